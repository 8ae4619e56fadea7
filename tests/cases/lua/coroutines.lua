--- values go in and out
local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) local d, e = coroutine.yield(c * 2) return d + e end)
same(pack(coroutine.resume(co, 1, 2)), true, 3) same(pack(coroutine.resume(co, 10)), true, 20) same(pack(coroutine.resume(co, 3, 4)), true, 7)
same(pack(coroutine.resume(co)), false, "cannot resume dead coroutine")
--- status
local co co = coroutine.create(function() eq(coroutine.status(co), "running") coroutine.yield() end) eq(coroutine.status(co), "suspended")
coroutine.resume(co) eq(coroutine.status(co), "suspended") coroutine.resume(co) eq(coroutine.status(co), "dead")
--- status of one that resumed another
local a a = coroutine.create(function() local b = coroutine.create(function() eq(coroutine.status(a), "normal") end) coroutine.resume(b) eq(coroutine.status(b), "dead") end)
same(pack(coroutine.resume(a)), true)
--- wrap
local f = coroutine.wrap(function(...) local n = select("#", ...) while true do n = n + coroutine.yield(n) end end) eq(f(1, 2, 3), 3) eq(f(10), 13) eq(f(1), 14)
--- wrap of one that is dead
local f = coroutine.wrap(function() end) f() fails("cannot resume dead coroutine", f)
--- wrap raises what is raised inside
local f = coroutine.wrap(function() error({ 1 }) end) local ok, e = pcall(f) eq(type(e), "table") eq(e[1], 1)
--- generators
local function range(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i) end end) end local t = {} for i in range(4) do t[#t + 1] = i end eq(table.concat(t), "1234")
--- generators over a tree
local function walk(t) if t then walk(t.l) coroutine.yield(t.v) walk(t.r) end end
local tree = { v = 2, l = { v = 1 }, r = { v = 4, l = { v = 3 } } } local out = {} for v in coroutine.wrap(function() walk(tree) end) do out[#out + 1] = v end eq(table.concat(out), "1234")
--- permutations
local function perm(a, n) if n <= 1 then coroutine.yield(table.concat(a)) else for i = 1, n do a[n], a[i] = a[i], a[n] perm(a, n - 1) a[n], a[i] = a[i], a[n] end end end
local n, seen = 0, {} for p in coroutine.wrap(function() perm({ "a", "b", "c", "d" }, 4) end) do n = n + 1 seen[p] = true end eq(n, 24) local m = 0 for _ in pairs(seen) do m = m + 1 end eq(m, 24)
--- producers and consumers
local p = coroutine.create(function() for i = 1, 3 do coroutine.yield("item" .. i) end return nil end)
local got = {} while true do local _, v = coroutine.resume(p) if not v then break end got[#got + 1] = v end eq(table.concat(got, ","), "item1,item2,item3")
--- yield gives what resume is handed
local co = coroutine.wrap(function() return coroutine.yield(coroutine.yield()) end) co() same(pack(co(1, 2)), 1, 2) same(pack(co(3, nil)), 3, nil)
--- yield across pcall
local co = coroutine.create(function() local ok, v = pcall(function() local x = coroutine.yield(1) if x == "bad" then error("got bad", 0) end return x end) coroutine.yield(ok, v) return "end" end)
same(pack(coroutine.resume(co)), true, 1) same(pack(coroutine.resume(co, "bad")), true, false, "got bad") same(pack(coroutine.resume(co)), true, "end")
--- yield across nested pcalls
local co = coroutine.wrap(function() return pcall(pcall, pcall, function() return coroutine.yield("in") end) end) eq(co(), "in") same(pack(co("out")), true, true, true, "out")
--- yield across xpcall
local co = coroutine.wrap(function() return xpcall(function() coroutine.yield(1) error("e", 0) end, function(m) return m .. "!" end) end) eq(co(), 1) same(pack(co()), false, "e!")
--- yield in metamethods
local o = setmetatable({}, { __add = function(a, b) return coroutine.yield("add") end, __index = function(t, k) return coroutine.yield(k) end, __call = function() return coroutine.yield("call") end })
local co = coroutine.wrap(function() return o + 1, o.key, o() end) eq(co(), "add") eq(co(1), "key") eq(co(2), "call") same(pack(co(3)), 1, 2, 3)
--- yield in comparisons and concatenation
local o = setmetatable({}, { __lt = function() return coroutine.yield("lt") end, __concat = function() return coroutine.yield("cat") end, __eq = function() return coroutine.yield("eq") end })
local co = coroutine.wrap(function() return o < o, o .. "x", o == setmetatable({}, getmetatable(o)) end) eq(co(), "lt") eq(co(1), "cat") eq(co("c"), "eq") same(pack(co(nil)), true, "c", false)
--- yield in an iterator
local co = coroutine.wrap(function() local n = 0 for v in function() return coroutine.yield("next") end do n = n + v end return n end) eq(co(), "next") eq(co(5), "next") eq(co(6), "next") eq(co(nil), 11)
--- yield in a sort
--# both: a comparator may call tools
local co = coroutine.wrap(function() local t = { 2, 1 } table.sort(t, function(a, b) coroutine.yield("cmp") return a < b end) return t[1] end) fails("attempt to yield across a C-call boundary", co)
--- errors inside
local co = coroutine.create(function() local t = nil return t.x end) local ok, e = coroutine.resume(co) eq(ok, false) eq(e:find("attempt to index a nil value", 1, true) ~= nil, true) eq(coroutine.status(co), "dead")
--- errors inside name their line
local co = coroutine.create(function()
  error("inner")
end)
local ok, e = coroutine.resume(co) eq(e, "plan.lua:3: inner")
--- errors that are no text
local co = coroutine.create(function() error({ code = 5 }) end) local ok, e = coroutine.resume(co) eq(e.code, 5)
--- one that failed stays dead
local co = coroutine.create(error) eq(coroutine.resume(co, "x"), false) same(pack(coroutine.resume(co)), false, "cannot resume dead coroutine")
--- resuming itself
local co co = coroutine.create(function() return coroutine.resume(co) end) same(pack(coroutine.resume(co)), true, false, "cannot resume non-suspended coroutine")
--- resuming one that waits
local a a = coroutine.create(function() local b = coroutine.wrap(function() return coroutine.resume(a) end) return b() end) same(pack(coroutine.resume(a)), true, false, "cannot resume non-suspended coroutine")
--- running and isyieldable
local co = coroutine.create(function() local me, main = coroutine.running() return type(me), main, coroutine.isyieldable() end) same(pack(coroutine.resume(co)), true, "thread", false, true)
--- the main coroutine
local me, main = coroutine.running() eq(type(me), "thread") eq(main, true) eq(coroutine.isyieldable(), false) eq(coroutine.isyieldable(me), false) eq(coroutine.status(me), "running")
--- the main coroutine seen from another
local me = coroutine.running() local f = coroutine.wrap(function() return coroutine.status(me), coroutine.isyieldable(me), coroutine.isyieldable() end) same(pack(f()), "normal", false, true)
--- yield outside
fails("attempt to yield from outside a coroutine", coroutine.yield)
--- close of one that is suspended
local co = coroutine.create(function() coroutine.yield() end) coroutine.resume(co) eq(coroutine.close(co), true) eq(coroutine.status(co), "dead") eq(coroutine.close(co), true)
--- close of one that never ran
local co = coroutine.create(print) eq(coroutine.close(co), true) eq(coroutine.status(co), "dead")
--- close of one that failed
local co = coroutine.create(error) coroutine.resume(co, "x") same(pack(coroutine.close(co)), false, "x")
--# piccolo: `coroutine.close` of a failed coroutine gives `true`
--- close of one that runs
fails("cannot close a running coroutine", function() coroutine.close((coroutine.running())) end)
--- close runs what is to be closed
local log = {} local co = coroutine.create(function() local x <close> = setmetatable({}, { __close = function() log[1] = "closed" end }) coroutine.yield() end) coroutine.resume(co) eq(coroutine.close(co), true) eq(log[1], "closed")
--# piccolo: No `<close>`, and a generic `for` closes nothing
--- create needs a function
fails("bad argument #1 to 'create' (function expected, got number)", function() coroutine.create(1) end) fails("bad argument #1 to 'wrap' (function expected, got table)", function() coroutine.wrap({}) end)
--- resume needs a coroutine
fails("bad argument #1 to 'resume' (thread expected, got number)", function() coroutine.resume(1) end)
--- varargs through a coroutine
local co = coroutine.wrap(function(...) local a = { ... } while true do a = { coroutine.yield(table.unpack(a)) } end end) same(pack(co(1, 2, 3)), 1, 2, 3) same(pack(co(4)), 4) same(pack(co()))
--- many coroutines
local n = 0 for i = 1, 300 do local co = coroutine.wrap(function(x) n = n + coroutine.yield(x) end) co(i) co(i) end eq(n, 45150)
--- coroutines as keys and values
local t = {} for i = 1, 5 do local co = coroutine.create(function() return i end) t[co] = i end local sum = 0 for co, i in pairs(t) do local _, v = coroutine.resume(co) sum = sum + v * i end eq(sum, 55)
--- coroutines that resume one another without end
local function r() local co = coroutine.wrap(r) return co() end local ok, e = pcall(r) eq(ok, false) eq(e:find("C stack overflow", 1, true) ~= nil, true)
--- a coroutine of a coroutine of a coroutine
local function nest(n) if n == 0 then coroutine.yield("deep") return "back" end local f = coroutine.wrap(nest) local v = f(n - 1) coroutine.yield(v) return f() end
local f = coroutine.wrap(nest) eq(f(20), "deep") eq(f(), "back")
--- locals live on between resumes
local co = coroutine.wrap(function() local a, b = 1, 1 while true do coroutine.yield(a) a, b = b, a + b end end) local t = {} for i = 1, 8 do t[i] = co() end eq(table.concat(t, ","), "1,1,2,3,5,8,13,21")
--- a wrapped function in string functions
local f = coroutine.wrap(function() for _, r in ipairs({ "1", "2", "3" }) do coroutine.yield(r) end end) eq(("aaa"):gsub("a", function() return f() end), "123")
--- two coroutines share an upvalue
local n = 0 local function make() return coroutine.wrap(function() while true do n = n + 1 coroutine.yield(n) end end) end local a, b = make(), make() eq(a(), 1) eq(b(), 2) eq(a(), 3)
--- scheduling in turns
local log, tasks = {}, {} for _, name in ipairs({ "a", "b", "c" }) do tasks[#tasks + 1] = coroutine.create(function() for i = 1, 2 do log[#log + 1] = name .. i coroutine.yield() end end) end
while #tasks > 0 do for i = #tasks, 1, -1 do coroutine.resume(tasks[i]) if coroutine.status(tasks[i]) == "dead" then table.remove(tasks, i) end end end eq(table.concat(log, " "), "c1 b1 a1 c2 b2 a2")
