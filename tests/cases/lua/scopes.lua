--- a local is not seen in its own value
local a = 1 local a = a + 1 eq(a, 2)
--- blocks hide names and give them back
local a = 1 do local a = 2 eq(a, 2) do local a = 3 eq(a, 3) end eq(a, 2) end eq(a, 1)
--- a local function sees itself
local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end eq(fact(10), 3628800)
--- a local with a function as its value does not see itself
local f = function() return 1 end
local f = function() return f and f() or 0 end
eq(f(), 1)
--- functions may call one another
local even, odd
function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
eq(even(10), true) eq(odd(7), true)
--- globals are shared
G_one = 1 local function add() G_one = G_one + 1 end add() add() eq(G_one, 3) eq(_G.G_one, 3) G_one = nil eq(rawget(_G, "G_one"), nil)
--- a global by a name made at run time
_G["G_" .. "made"] = 5 eq(G_made, 5) G_made = nil
--- missing values are nil
local a, b, c = 1, 2 eq(c, nil) local d, e = (function() return 1, 2 end)() eq(e, 2)
--- values too many are computed and dropped
local n = 0 local function next_n() n = n + 1 return n end
local a = next_n(), next_n(), next_n() eq(a, 1) eq(n, 3)
--- brackets cut to one value
local function two() return 1, 2 end
local a, b = (two()) eq(b, nil) same(pack((two())), 1) same(pack(two(), two()), 1, 1, 2)
--- swapping
local a, b = 1, 2 a, b = b, a eq(a, 2) eq(b, 1)
local t = { 1, 2 } t[1], t[2] = t[2], t[1] eq(t[1], 2) eq(t[2], 1)
--- assignment computes everything first
local i, t = 1, {} i, t[i] = i + 1, 20 eq(t[1], 20) eq(i, 2)
--- closures share a variable
local function counter() local n = 0 return function() n = n + 1 return n end, function() return n end end
local up, now = counter() up() up() eq(now(), 2)
local other = counter() eq(other(), 1) eq(now(), 2)
--- each round of a loop has its own variable
local f = {} for i = 1, 3 do f[i] = function() i = i + 1 return i end end
eq(f[1](), 2) eq(f[1](), 3) eq(f[2](), 3) eq(f[3](), 4)
--- each round of a generic loop has its own variables
local f = {} for i, v in ipairs({ "a", "b" }) do f[i] = function() return i, v end end
same(pack(f[1]()), 1, "a") same(pack(f[2]()), 2, "b")
--- each round of a while has its own locals
local f, n = {}, 0 while n < 3 do n = n + 1 local k = n * 2 f[n] = function() k = k + 1 return k end end
eq(f[1](), 3) eq(f[1](), 4) eq(f[2](), 5)
--- until sees the locals of its block
local n = 0 repeat local stop = n >= 3 n = n + 1 until stop eq(n, 4)
--- until sees a local that a closure holds
local f repeat local x = 5 f = function() return x end until x == 5 eq(f(), 5)
--- upvalues of upvalues
local function outer(a) return function(b) return function(c) a = a + 1 return a + b + c end end end
local inner = outer(1)(10) eq(inner(100), 112) eq(inner(100), 113)
--- a closure outlives its block
local get do local secret = 42 get = function() return secret end end eq(get(), 42)
--- parameters are locals
local function f(a) a = a + 1 return a end local a = 1 eq(f(a), 2) eq(a, 1)
--- parameters left out are nil
local function f(a, b, c) return c end eq(f(1, 2), nil) eq(select("#", f(1)), 1)
--- arguments too many are dropped
local function f(a) return a end eq(f(1, 2, 3), 1) same(pack(f(1, 2)), 1)
--- two parameters of one name
local function f(a, a) return a end eq(f(1, 2), 2)
--- self in methods
local o = { n = 1 } function o:add(k) self.n = self.n + k return self end eq(o:add(2):add(3).n, 6)
function o.static(a) return a end eq(o.static(9), 9)
--- methods of fields
local o = { p = { q = { n = 7 } } } function o.p.q:get(x) return self.n + x end eq(o.p.q:get(1), 8)
--- varargs
local function f(...) return select("#", ...), ... end
same(pack(f()), 0) same(pack(f(nil)), 1, nil) same(pack(f(1, nil, nil)), 3, 1, nil, nil)
--- varargs behind parameters
local function f(a, b, ...) return a, b, select("#", ...), (...) end
same(pack(f(1)), 1, nil, 0, nil) same(pack(f(1, 2, 3, 4)), 1, 2, 2, 3)
--- varargs in the middle give one value
local function f(...) return ..., 9 end same(pack(f(1, 2)), 1, 9)
local function g(...) return { ..., 9 } end eq(#g(1, 2, 3), 2)
--- varargs in tables
local function f(...) local t = { ... } return #t end eq(f(1, 2, 3), 3) eq(f(), 0)
--- varargs of the outer function are not those of the inner
local function f(...) local n = select("#", ...) return function(...) return n, select("#", ...) end end
same(pack(f(1, 2, 3)(4)), 3, 1)
--- select counts from the end
same(pack(select(-1, 1, 2, 3)), 3) same(pack(select(-2, 1, 2, 3)), 2, 3) same(pack(select(2, "a", "b", "c")), "b", "c")
same(pack(select(5, 1, 2))) eq(select("#"), 0) eq(select("#", nil, nil), 2)
--- select refuses positions out of range
fails("bad argument #1 to 'select' (index out of range)", function() return (select(0, 1)) end)
fails("bad argument #1 to 'select' (index out of range)", function() return (select(-3, 1, 2)) end)
--- constants
local x <const> = 5 local y <const>, z = 6, 7 z = z + x + y eq(z, 18)
--- constants in closures
local k <const> = { n = 1 } k.n = 2 local function f() return k.n end eq(f(), 2)
--- a constant of another scope may be hidden
local k <const> = 1 do local k = 2 k = k + 1 eq(k, 3) end eq(k, 1)
--- goto forward
local t = {} do t[#t + 1] = 1 goto done t[#t + 1] = 2 ::done:: t[#t + 1] = 3 end eq(table.concat(t), "13")
--- goto back
local n = 0 ::again:: n = n + 1 if n < 5 then goto again end eq(n, 5)
--- goto as continue
local t = {} for i = 1, 6 do if i % 2 == 0 then goto continue end t[#t + 1] = i ::continue:: end eq(table.concat(t), "135")
--- goto out of nested loops
local n = 0 for i = 1, 9 do for j = 1, 9 do n = n + 1 if i * j == 6 then goto out end end end ::out:: eq(n, 6)
--- goto over a local at the end of a block
do goto fin local a = 1 ::fin:: ; end eq(true, true)
--- goto back makes new locals
local f, n = {}, 0 do ::top:: local k = n f[#f + 1] = function() k = k + 1 return k end n = n + 1 if n < 3 then goto top end end
eq(f[1](), 1) eq(f[1](), 2) eq(f[2](), 2) eq(f[3](), 3)
--- a label may have the name of a variable
local here = 1 do goto here ::here:: here = here + 1 end eq(here, 2)
--- labels of one name in different functions
local function f() goto a ::a:: return 1 end local function g() goto a ::a:: return 2 end eq(f() + g(), 3)
--- break leaves the innermost loop
local n = 0 for i = 1, 3 do while true do n = n + 1 break end repeat n = n + 1 if n then break end until false end eq(n, 6)
--- numeric loops
local t = {} for i = 3, 1, -1 do t[#t + 1] = i end eq(table.concat(t), "321")
for i = 1, 0 do error("never") end for i = 1, 3, -1 do error("never") end
--- numeric loops with floats
local t = {} for i = 1.0, 3 do t[#t + 1] = math.type(i) end eq(table.concat(t, " "), "float float float")
local n = 0 for i = 0, 1, 0.25 do n = n + 1 end eq(n, 5)
--- numeric loops stay integers where start and step are
for i = 1, 2.9 do eq(math.type(i), "integer") end local n = 0 for i = 1, math.huge do n = i if i == 5 then break end end eq(n, 5)
--- numeric loops do not overflow
local n = 0 for i = math.maxinteger - 1, math.maxinteger do n = n + 1 end eq(n, 2)
n = 0 for i = math.mininteger, math.mininteger + 2, 2 do n = n + 1 end eq(n, 2)
n = 0 for i = math.maxinteger, 0, -math.maxinteger do n = n + 1 end eq(n, 2)
for i = 1, math.mininteger do error("never") end for i = 1, -math.huge do error("never") end
--- the loop variable may be changed without changing the loop
local n = 0 for i = 1, 3 do i = i * 10 n = n + i end eq(n, 60)
--- bounds of a loop are computed once
local calls = 0 local function bound() calls = calls + 1 return 3 end for i = 1, bound() do end eq(calls, 1)
--- loops refuse what is no number
fails("bad 'for' initial value (number expected, got string)", function() for i = "a", 2 do end end)
fails("bad 'for' limit (number expected, got table)", function() for i = 1, {} do end end)
fails("bad 'for' step (number expected, got boolean)", function() for i = 1, 2, true do end end)
fails("'for' step is zero", function() for i = 1, 2, 0 do end end)
fails("'for' step is zero", function() for i = 1.0, 2, 0.0 do end end)
local n = 0 for i = 1, "3" do n = n + i end eq(n, 6)
--- generic loops call an iterator with state and control
local log = {} local function it(s, c) log[#log + 1] = s .. c if c < 3 then return c + 1 end end
for v in it, "s", 1 do end eq(table.concat(log, " "), "s1 s2 s3")
--- generic loops end at nil alone
local t, i = { false, 1, nil }, 0 local n = 0 for v in function() i = i + 1 return t[i] end do n = n + 1 end eq(n, 2)
--- generic loops over a callable table
local c = setmetatable({}, { __call = function(self, s, k) k = (k or 0) + 1 if k <= 2 then return k end end })
local n = 0 for k in c do n = n + k end eq(n, 3)
--- generic loops refuse what cannot be called
fails("attempt to call a nil value", function() for k in nil do end end)
fails("attempt to call a table value", function() for k in {} do end end)
--- tail calls need no stack
local function down(n) if n == 0 then return "end" end return down(n - 1) end eq(down(20000), "end")
--- while false never runs
while false do error("never") end while nil do error("never") end eq(1, 1)
--- conditions take all but nil and false
local t = {} for _, v in ipairs({ 0, "", {}, 0 / 0 }) do if v then t[#t + 1] = 1 end end eq(#t, 4)
--- else and elseif
local function f(n) if n < 0 then return "-" elseif n == 0 then return "0" elseif n < 10 then return "d" else return "D" end end
eq(f(-1) .. f(0) .. f(5) .. f(50), "-0dD")
--- nested functions with 60 levels of blocks
local n = 0 for a = 1, 2 do for b = 1, 2 do for c = 1, 2 do for d = 1, 2 do for e = 1, 2 do n = n + 1 end end end end end eq(n, 32)
--- goto out of every kind of loop
local log = {} for i = 1, 3 do log[#log + 1] = i if i == 2 then goto a end end ::a:: for i = 1.0, 3 do goto b end ::b:: for k, v in pairs({ 1 }) do goto c end ::c:: while true do goto d end ::d:: repeat goto e until false ::e:: eq(table.concat(log), "12")
--- goto out of a loop past closures
local f = {} for i = 1, 5 do local k = i f[i] = function() k = k + 1 return k end for j = i, 9 do f[-j] = function() return j end if i == 3 then goto out end end end ::out:: eq(f[3](), 4) eq(f[3](), 5) eq(f[-3](), 3) eq(f[4], nil) eq(f[-9](), 9)
--- goto on in an outer loop
local t = {} for i = 1, 3 do for j = 1, 3 do if j == 2 then goto continue end t[#t + 1] = i .. j end ::continue:: end eq(table.concat(t, " "), "11 21 31")
--- break out of loops with closures
local f for i = 1, 3 do local k = i f = function() k = k + 1 return k end if i == 2 then break end end eq(f(), 3) eq(f(), 4)
