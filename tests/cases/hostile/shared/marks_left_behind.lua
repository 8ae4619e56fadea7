-- Whatever can be written is written: the next run must see none of it.
-- expect: result: "left"
leak = "left behind"
string.leak, table.leak, math.leak, coroutine.leak, utf8.leak, json.leak = 1, 2, 3, 4, 5, 6
function string.format() return "changed" end
function table.concat() return "changed" end
function math.floor() return -1 end
math.pi = 3
json.null = 1
_VERSION = "changed"
function run() return "left" end
