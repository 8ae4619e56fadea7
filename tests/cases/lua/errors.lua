--- pcall gives what was raised
same(pack(pcall(error, "x", 0)), false, "x") same(pack(pcall(error)), false, nil) same(pack(pcall(error, nil)), false, nil)
--- pcall gives what was returned
same(pack(pcall(function() return 1, nil, 3 end)), true, 1, nil, 3) same(pack(pcall(function() end)), true)
--- pcall hands arguments on
same(pack(pcall(function(...) return select("#", ...), ... end, 1, nil)), true, 2, 1, nil)
--- pcall of what cannot be called
local ok, e = pcall(nil) eq(ok, false) eq(e, "attempt to call a nil value") local ok, e = pcall({}) eq(e, "attempt to call a table value") local ok, e = pcall(5) eq(e, "attempt to call a number value")
--- pcall in pcall
same(pack(pcall(pcall, error, "e")), true, false, "e") eq(select("#", pcall(pcall)), 2)
--- values that are raised stay what they are
local t = {} local ok, e = pcall(error, t) eq(e, t) local ok, e = pcall(error, 42) eq(e, 42) local ok, e = pcall(error, true) eq(e, true) local ok, e = pcall(error, 1.5) eq(e, 1.5)
--- tables with fields are raised and looked at
local ok, e = pcall(function() error({ code = 7, message = "m" }) end) eq(e.code, 7) eq(e.message, "m")
--- error adds its line
local ok, e = pcall(function() error("msg") end) eq(e, "plan.lua:2: msg")
--- error adds the line it stands on
local ok, e = pcall(function()
  local a = 1
  error("msg")
end)
eq(e, "plan.lua:4: msg")
--- error at level 1 and 0
local ok, e = pcall(function() error("m", 1) end) eq(e, "plan.lua:2: m") local ok, e = pcall(function() error("m", 0) end) eq(e, "m")
--- error at level 2
local function check(v)
  if not v then error("bad value", 2) end
end
local ok, e = pcall(function()
  check(true)
  check(false)
end)
eq(e, "plan.lua:7: bad value")
--# piccolo: `error` knows level 1 only
--- error adds nothing to what is no text
local ok, e = pcall(function() error({}, 1) end) eq(type(e), "table") local ok, e = pcall(function() error(5) end) eq(e, 5)
--- assert gives its arguments
same(pack(assert(1, 2, 3)), 1, 2, 3) same(pack(assert("x")), "x")
--- assert raises its message as it is
local ok, e = pcall(assert, false, "m") eq(e, "m") local t = {} local ok, e = pcall(assert, nil, t) eq(e, t) local ok, e = pcall(assert, false) eq(e, "assertion failed!") local ok, e = pcall(assert, nil, nil) eq(e, nil)
--- assert without arguments
fails("bad argument #1 to 'assert' (value expected)", function() assert() end)
--- errors of operators name their line
local ok, e = pcall(function()
  local t = {}
  local a = 1
  return t + a
end)
eq(e, "plan.lua:5: attempt to perform arithmetic on a table value (local 't')")
--# piccolo: messages name no variables
--- errors of operators say their kinds
fails("attempt to perform arithmetic on a nil value", function() local a return a + 1 end) fails("attempt to compare number with nil", function() local a return 1 < a end) fails("attempt to concatenate a nil value", function() local a return "x" .. a end)
--- errors name fields
fails("(field 'x')", function() local t = {} return t.x.y end)
--# piccolo: messages name no variables
--- errors name globals
fails("(global 'G_nothing')", function() return G_nothing.y end)
--# piccolo: messages name no variables
--- errors name methods
fails("attempt to call a nil value (method 'm')", function() local t = {} return (t:m()) end)
--- errors name upvalues
local up fails("(upvalue 'up')", function() return up.x end)
--# piccolo: messages name no variables
--- index errors say what was indexed
fails("attempt to index a nil value", function() local t return t.x end) fails("attempt to index a nil value", function() local t t.x = 1 end) fails("attempt to index a string value", function() local s = "x" s.y = 1 end)
--- keys that cannot be set
fails("index is nil", function() local t = {} t[nil] = 1 end) fails("index is NaN", function() local t = {} t[0/0] = 1 end) fails("index is nil", function() return { [nil] = 1 } end)
--- keys that are nil or NaN can be read
local t = {} eq(t[nil], nil) eq(t[0/0], nil)
--- errors pass through functions
local function deep(n) if n == 0 then error("bottom", 0) end return 1 + deep(n - 1) end local ok, e = pcall(deep, 50) eq(e, "bottom")
--- errors may be raised again
local ok, e = pcall(function() local ok, e = pcall(error, "a", 0) error(e .. "b", 0) end) eq(e, "ab")
--- an error in a handler of pcall's result
local ok, e = pcall(function() local ok, e = pcall(error, { 1 }) return e.x.y end) eq(ok, false) eq(type(e), "string")
--- variables keep what an error left in them
local n = 0 pcall(function() n = 1 error() n = 2 end) eq(n, 1)
--- xpcall hands the error to its handler
same(pack(xpcall(function() error("x", 0) end, function(e) return e .. "!", 2 end)), false, "x!")
--- xpcall gives results and hands arguments on
same(pack(xpcall(function(a, b) return b, a end, print, 1, 2)), true, 2, 1)
--- xpcall needs a handler
fails("bad argument #2 to 'xpcall'", function() xpcall(print) end)
--- xpcall with tables
local ok, e = xpcall(function() error({ n = 1 }) end, function(e) e.n = e.n + 1 return e end) eq(e.n, 2)
--- errors of library functions name their line and argument
local ok, e = pcall(function()
  return string.rep()
end)
eq(e:find("bad argument #1 to 'rep'", 1, true) ~= nil, true)
--- errors of library functions
fails("bad argument #1 to 'insert' (table expected, got nil)", function() table.insert(nil, 1) end)
fails("bad argument #1 to 'floor' (number expected, got string)", function() math.floor("x") end) fails("bad argument #2 to 'rep' (number expected, got string)", function() string.rep("x", "y") end)
--- walks need an argument
fails("bad argument #1 to 'ipairs' (value expected)", function() ipairs() end)
--- errors of calls through pcall
local ok, e = pcall(string.rep) eq(e, "bad argument #1 to 'string.rep' (string expected, got no value)")
--# both: A library function that `pcall` calls itself is named without its library
--- numbers as texts in messages
fails("5", function() error(5 .. "") end) local ok, e = pcall(function() error("a\nb") end) eq(e, "plan.lua:2: a\nb")
--- endless recursion can be caught
local function f() return 1 + f() end local ok, e = pcall(f) eq(ok, false) eq(type(e), "string")
--# both: Endless recursion meets the depth limit
--- tostring of errors
local ok, e = pcall(error, setmetatable({}, { __tostring = function() return "E" end })) eq(tostring(e), "E")
--- select in error messages
fails("bad argument #1 to 'select' (number expected, got string)", function() select("x") end)
--- type needs a value
fails("bad argument #1 to 'type' (value expected)", function() type() end) eq(type(nil), "nil")
--- operators over several lines
local ok, e = pcall(function()
  local a, b = 1, nil
  return a
    + a
    + b
end)
eq(e:match("^plan.lua:(%d+):"), "6")
--# piccolo: An operator in a statement of several lines
--- calls over several lines
local ok, e = pcall(function()
  local function f() error("here", 2) end
  local x = f(
    1,
    2
  )
end)
eq(type(e), "string")
