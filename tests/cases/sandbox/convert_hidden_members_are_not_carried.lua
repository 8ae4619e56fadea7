-- result: {"a":1}
function run() return echo(setmetatable({ a = 1 }, { __index = { b = 2 } })) end
