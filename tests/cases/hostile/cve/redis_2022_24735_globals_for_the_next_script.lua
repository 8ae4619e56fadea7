-- CVE-2022-24735: weak points of the environment let one script inject code another user's script ran later. Here: what is left behind in libraries, globals and metatables of strings.
-- expect: result: "left"
function run() return "left" end
function string.format() error("injected") end
function string.gsub() error("injected") end
function table.concat() error("injected") end
function table.insert() error("injected") end
function tostring() error("injected") end
function pairs() error("injected") end
function ipairs() error("injected") end
function select() error("injected") end
setmetatable(_G, { __index = function() return "injected" end, __newindex = function() end })
