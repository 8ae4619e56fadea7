--- arithmetic events
local log = {} local mt = {} for _, e in ipairs({ "add", "sub", "mul", "div", "mod", "pow", "idiv", "band", "bor", "bxor", "shl", "shr" }) do
mt["__" .. e] = function(a, b) log[#log + 1] = e return e end end
local o = setmetatable({}, mt)
eq(o + 1, "add") eq(1 - o, "sub") eq(o * o, "mul") eq(o / 2, "div") eq(2 % o, "mod") eq(o ^ 2, "pow") eq(o // 1, "idiv")
eq(o & 1, "band") eq(1 | o, "bor") eq(o ~ 1, "bxor") eq(o << 1, "shl") eq(1 >> o, "shr") eq(#log, 12)
--- events of one operand
local o = setmetatable({}, { __unm = function(a, b) return rawequal(a, b) end, __bnot = function(a) return "bnot" end, __len = function(a) return 42 end })
eq(-o, true) eq(~o, "bnot") eq(#o, 42)
--- the left operand decides
local a = setmetatable({}, { __add = function() return "a" end }) local b = setmetatable({}, { __add = function() return "b" end })
eq(a + b, "a") eq(b + a, "b") eq(1 + b, "b") eq({} + a, "a")
--- an event gives one value
local o = setmetatable({}, { __add = function() return 1, 2, 3 end, __sub = function() end }) same(pack(o + 1), 1) same(pack(o - 1), nil)
--- operands come in their order
local o = setmetatable({}, { __sub = function(a, b) return type(a) .. type(b) end }) eq(o - 1, "tablenumber") eq(1 - o, "numbertable") eq("x" - o, "stringtable")
--- events that are tables with __call
local c = setmetatable({}, { __call = function(self, a, b) return "called" end }) local o = setmetatable({}, { __add = c, __index = function() return c end })
eq(o + 1, "called") eq(o.x(), "called")
--- concatenation events
local o = setmetatable({}, { __concat = function(a, b) return (type(a) == "table" and "o" or a) .. "+" .. (type(b) == "table" and "o" or b) end })
eq(o .. "x", "o+x") eq("x" .. o, "x+o") eq(1 .. o, "1+o") eq("a" .. ("b" .. o), "ab+o") eq(o .. "a" .. "b", "o+ab")
--- comparison events
local mt = {} mt.__lt = function(a, b) return a.v < b.v end mt.__le = function(a, b) return a.v <= b.v end
local a, b = setmetatable({ v = 1 }, mt), setmetatable({ v = 2 }, mt)
eq(a < b, true) eq(a > b, false) eq(a <= a, true) eq(a >= b, false) eq(b > a, true)
--- comparison events give booleans
local o = setmetatable({}, { __lt = function() return 1 end, __le = function() return nil end, __eq = function() return "yes" end })
eq(o < 1, true) eq(o <= 1, false) eq(o == setmetatable({}, getmetatable(o)), true) eq(1 < o, true)
--- equality events
local n = 0 local mt = { __eq = function(a, b) n = n + 1 return true end } local a, b = setmetatable({}, mt), setmetatable({}, mt)
eq(a == b, true) eq(a ~= b, false) eq(n, 2) eq(a == a, true) eq(n, 2) eq(a == 1, false) eq(rawequal(a, b), false) eq(n, 2)
--- equality asks either side
local a, b = setmetatable({}, { __eq = function() return true end }), {} eq(a == b, true) eq(b == a, true)
--- index functions
local o = setmetatable({ own = 1 }, { __index = function(t, k) return k .. "!" end }) eq(o.own, 1) eq(o.x, "x!") eq(o["y"], "y!") eq(rawget(o, "x"), nil)
--- index tables
local base = { a = 1, b = 2 } local o = setmetatable({ b = 3 }, { __index = base }) eq(o.a, 1) eq(o.b, 3) eq(o.c, nil) base.c = 4 eq(o.c, 4)
--- chains of index tables
local t = {} for i = 1, 50 do t = setmetatable({ ["k" .. i] = i }, { __index = t }) end eq(t.k1, 1) eq(t.k50, 50) eq(t.k51, nil)
--- inheritance
local A = {} A.__index = A function A.new(n) return setmetatable({ n = n }, A) end function A:get() return self.n end function A:name() return "A" end
local B = setmetatable({}, { __index = A }) B.__index = B function B.new(n) local o = A.new(n) return setmetatable(o, B) end function B:name() return "B" .. A.name(self) end
local b = B.new(7) eq(b:get(), 7) eq(b:name(), "BA") eq(A.new(1):name(), "A") eq(getmetatable(b), B)
--- three levels of inheritance
local function class(base) local c = setmetatable({}, { __index = base, __call = function(c, ...) local o = setmetatable({}, c) if o.init then o:init(...) end return o end }) c.__index = c return c end
local A = class() function A:init(x) self.x = x end function A:sum() return self.x end
local B = class(A) function B:init(x, y) A.init(self, x) self.y = y end function B:sum() return A.sum(self) + self.y end
local C = class(B) function C:sum() return B.sum(self) * 2 end
eq(C(3, 4):sum(), 14) eq(B(1, 2):sum(), 3)
--- a ring of index tables
local a, b = {}, {} setmetatable(a, { __index = b }) setmetatable(b, { __index = a })
fails("'__index' chain too long; possible loop", function() return a.missing end) a.here = 1 eq(b.here, 1)
--- a table that is its own index
local t = {} t.__index = t setmetatable(t, t) fails("'__index' chain too long", function() return t.nothing end) t.x = 5 eq(t.x, 5)
--- a ring of index tables closed last
local mt = {} local t = setmetatable({}, mt) mt.__index = t fails("'__index' chain too long", function() return t.nothing end) rawset(t, "k", 1) eq(t.k, 1)
--- newindex functions
local log = {} local o = setmetatable({ a = 1 }, { __newindex = function(t, k, v) log[#log + 1] = k rawset(t, k, v) end })
o.a = 2 o.b = 3 o.b = 4 eq(table.concat(log, ","), "b") eq(o.b, 4) o.c = nil eq(#log, 2)
--- newindex tables
local store = {} local o = setmetatable({}, { __newindex = store }) o.x = 1 eq(rawget(o, "x"), nil) eq(store.x, 1) rawset(o, "y", 2) eq(o.y, 2) eq(store.y, nil)
--- newindex tables set what is there
local store = { x = 0 } local o = setmetatable({}, { __newindex = store, __index = store }) o.x = 5 eq(store.x, 5) eq(o.x, 5) o.x = nil eq(store.x, nil)
--- chains of newindex tables
local last = {} local t = last for i = 1, 20 do t = setmetatable({}, { __newindex = t }) end t.a = 1 eq(last.a, 1) eq(rawget(t, "a"), nil)
--- a ring of newindex tables
local a, b = {}, {} setmetatable(a, { __newindex = b }) setmetatable(b, { __newindex = a }) fails("'__newindex' chain too long; possible loop", function() a.x = 1 end)
--- newindex with functions and literals as values
local got = {} local o = setmetatable({}, { __newindex = function(t, k, v) got[k] = v end }) o.a = 1 o.b = "x" o.c = {} o.d = function() end function o.e() end
eq(got.a, 1) eq(got.b, "x") eq(type(got.c), "table") eq(type(got.d), "function") eq(type(got.e), "function") eq(next(o), nil)
--- calls
local o = setmetatable({}, { __call = function(self, ...) return select("#", ...), ... end }) same(pack(o(1, nil)), 2, 1, nil) same(pack(o()), 0) eq(pcall(o), true)
--- calls of calls
local a = setmetatable({}, { __call = function(self, x) return x end }) local b = setmetatable({}, { __call = a }) eq(b(5), b)
--- a call that cannot be
fails("attempt to call a table value", function() local t = {} t() end) fails("attempt to call a nil value", function() local f f() end)
--- length in table functions
local o = setmetatable({ 1, 2, 3, 4 }, { __len = function() return 2 end }) eq(table.concat(o, ","), "1,2") eq(rawlen(o), 4) same(pack(table.unpack(o)), 1, 2)
--- tostring events
local o = setmetatable({}, { __tostring = function(t) return "obj" end }) eq(tostring(o), "obj") eq(string.format("%s", o), "obj") eq(("%s-%s"):format(o, o), "obj-obj")
--- a tostring event must give text
local o = setmetatable({}, { __tostring = function() return {} end }) fails("'__tostring' must return a string", tostring, o)
--- names of kinds
local o = setmetatable({}, { __name = "Thing" }) eq(tostring(o):match("^Thing: ") ~= nil, true)
--- a protected metatable
local o = setmetatable({}, { __metatable = "locked" }) eq(getmetatable(o), "locked") fails("cannot change a protected metatable", setmetatable, o, {})
--- setmetatable refuses
fails("bad argument #2 to 'setmetatable' (nil or table expected, got number)", function() setmetatable({}, 1) end) fails("bad argument #1 to 'setmetatable' (table expected, got number)", function() setmetatable(1, {}) end)
fails("bad argument #2 to 'setmetatable' (nil or table expected", function() setmetatable({}) end)
--- setmetatable gives its table and takes metatables away
local t = {} eq(setmetatable(t, {}), t) eq(type(getmetatable(t)), "table") eq(setmetatable(t, nil), t) eq(getmetatable(t), nil)
--- getmetatable of what has none
eq(getmetatable({}), nil) eq(getmetatable(1), nil) eq(getmetatable(print), nil) eq(getmetatable(nil), nil)
--- pairs events
local o = setmetatable({}, { __pairs = function(t) return function(_, k) k = (k or 0) + 1 if k <= 3 then return k, k * 10 end end, t, nil end })
local n = 0 for k, v in pairs(o) do n = n + v end eq(n, 60)
--- ipairs follows index
local o = setmetatable({ 1 }, { __index = function(t, k) if k <= 4 then return k * k end end }) local n = 0 for i, v in ipairs(o) do n = n + v end eq(n, 1 + 4 + 9 + 16)
--- raw access
local o = setmetatable({}, { __index = function() return 1 end, __newindex = function() error("never") end, __len = function() return 9 end, __eq = function() return true end })
eq(rawget(o, "x"), nil) rawset(o, "x", 2) eq(rawget(o, "x"), 2) eq(rawlen(o), 0) eq(rawequal(o, setmetatable({}, getmetatable(o))), false) eq(rawlen("abc"), 3)
--- index of a text goes to the library
eq(("x").rep, string.rep)
--# piccolo: A text is indexed by method calls alone
--- methods of texts
local s = "hello" eq(s:upper(), "HELLO") eq(s:len(), 5) eq(s:sub(2, 3), "el") eq(s:find("l"), 3) fails("attempt to call a nil value (method 'nothing')", function() s:nothing() end)
--- index of numbers and nil
fails("attempt to index a number value", function() local n = 1 return n.x end) fails("attempt to index a nil value", function() local n return n.x end) fails("attempt to index a boolean value", function() local b = true b.x = 1 end)
--- default values
local function default(t, d) return setmetatable(t, { __index = function() return d end }) end local t = default({}, 0) t.a = t.a + 1 t.b = t.b + 2 eq(t.a + t.b + t.c, 3)
--- read-only tables
local function locked(t) return setmetatable({}, { __index = t, __newindex = function() error("locked", 2) end }) end local t = locked({ x = 1 }) eq(t.x, 1) fails("locked", function() t.y = 1 end)
--- proxies that count
local reads = 0 local inner = { a = 1 } local p = setmetatable({}, { __index = function(_, k) reads = reads + 1 return inner[k] end }) eq(p.a, 1) eq(p.a, 1) eq(p.z, nil) eq(reads, 3)
--- vectors
local V = {} V.__index = V local function v(x, y) return setmetatable({ x = x, y = y }, V) end V.__add = function(a, b) return v(a.x + b.x, a.y + b.y) end V.__mul = function(a, k) return v(a.x * k, a.y * k) end
V.__eq = function(a, b) return a.x == b.x and a.y == b.y end V.__unm = function(a) return v(-a.x, -a.y) end V.__tostring = function(a) return "(" .. a.x .. "," .. a.y .. ")" end
eq(v(1, 2) + v(3, 4) == v(4, 6), true) eq(tostring(-(v(1, 2) * 3)), "(-3,-6)")
--- events that fail
local o = setmetatable({}, { __add = function() error("no sum", 0) end }) local ok, e = pcall(function() return o + 1 end) eq(ok, false) eq(e, "no sum")
--- an event of a wrong kind
local o = setmetatable({}, { __add = 5 }) fails("attempt to call a number value", function() return o + 1 end)
--- the length event is handed its value
local o = setmetatable({}, { __len = function(...) return select("#", ...) end }) eq(#o, 2)
--# piccolo: `__len` gets one operand
--- globals behind a metatable
local seen setmetatable(_G, { __index = function(_, k) seen = k return 7 end }) local v = G_not_there setmetatable(_G, nil) eq(v, 7) eq(seen, "G_not_there")
--- close
local log = {} do local a <close> = setmetatable({}, { __close = function(_, e) log[#log + 1] = tostring(e) end }) log[#log + 1] = "in" end eq(table.concat(log, " "), "in nil")
--# piccolo: No `<close>`, and a generic `for` closes nothing
--- close in the order from last to first
local log = {} local function c(n) return setmetatable({}, { __close = function() log[#log + 1] = n end }) end do local a <close> = c("a") local b <close> = c("b") local d <close> = nil end eq(table.concat(log), "ba")
--# piccolo: No `<close>`, and a generic `for` closes nothing
--- close at break, goto and return
local log = {} local function c(n) return setmetatable({}, { __close = function() log[#log + 1] = n end }) end
for i = 1, 3 do local x <close> = c("b") break end do local x <close> = c("g") goto out end ::out:: local function f() local x <close> = c("r") return 5 end eq(f(), 5) eq(table.concat(log), "bgr")
--# piccolo: No `<close>`, and a generic `for` closes nothing
--- close at an error
local seen local ok, e = pcall(function() local x <close> = setmetatable({}, { __close = function(_, e) seen = e end }) error("boom", 0) end) eq(e, "boom") eq(seen, "boom")
--# piccolo: No `<close>`, and a generic `for` closes nothing
--- close of what has no such event
fails("variable 'x' got a non-closable value", function() local x <close> = {} end)
--# piccolo: No `<close>`, and a generic `for` closes nothing
