--- constructors
local t = { 1, 2, 3; x = 10, ["y z"] = 20, [4] = 4, [1.5] = "f", [true] = "b" } eq(#t, 4) eq(t.x, 10) eq(t["y z"], 20) eq(t[1.5], "f") eq(t[true], "b")
--- constructors with lists and records
local t = {1,2,3,4,5; a=1,b=2,c=3} t.d = 1 t.e = 2 t[6] = 6 eq(#t, 6) eq(t.a + t.b + t.c + t.d + t.e, 9)
--- records that grow beside a list
for n = 0, 20 do for r = 0, 9 do local t = {} for i = 1, n do t[i] = i end for i = 1, r do t["k" .. i] = i end for i = 1, 5 do t["z" .. i] = i end eq(#t, n) local c = 0 for _ in pairs(t) do c = c + 1 end eq(c, n + r + 5) end end
--- constructors compute in the order they are written in
local log = {} local function f(v) log[#log + 1] = v return v end local t = { f(1), x = f(2), f(3), [f(4)] = f(5), f(6) } eq(table.concat(log), "123456") eq(t[3], 6) eq(t.x, 2)
--- constructors with calls
local function two() return 1, 2 end local t = { two(), two() } eq(#t, 3) local t = { (two()) } eq(#t, 1) local t = { two(), x = 1 } eq(#t, 1) local t = { x = two() } eq(t.x, 1)
--- constructors with varargs
local function f(...) return { ... }, { 0, ... }, { ..., 0 }, { n = select("#", ...), ... } end local a, b, c, d = f(1, 2, 3) eq(#a, 3) eq(#b, 4) eq(#c, 2) eq(#d, 3) eq(d.n, 3)
--- later members of a constructor win
local t = { a = 1, a = 2 } eq(t.a, 2) local t = { [1] = "x", "y" } eq(t[1], "y") local t = { "a", [2] = "x", "b", [1] = "z" } eq(t[1] .. t[2], "ab") local t = { nil, [1] = 1, [2] = 2 } eq(t[1], nil) eq(t[2], 2)
--- nil in constructors
local t = { a = nil, b = 1, nil, 5 } eq(t.a, nil) eq(t[2], 5) eq(t[1], nil) t.c = 1 eq(t.b + t.c, 2)
--- separators
local t = { 1, 2; 3, } eq(#t, 3) local t = { 1; } eq(#t, 1) eq(next({}), nil)
--- nested constructors
local t = { { { { 1 } } }, a = { b = { c = 2 } } } eq(t[1][1][1][1], 1) eq(t.a.b.c, 2)
--- constructors with functions
local t = { f = function(x) return x * 2 end, function() return 1 end } eq(t.f(4), 8) eq(t[1](), 1)
--- keys that are whole floats are integers
local t = {} t[1.0] = "a" eq(t[1], "a") t[2^53] = "b" eq(t[1 << 53], "b") eq(next({ [3.0] = 1 }), 3) eq(math.type(next({ [3.0] = 1 })), "integer")
--- keys that are texts of numbers are texts
local t = { ["1"] = "s", [1] = "i" } eq(t["1"], "s") eq(t[1], "i")
--- zero and minus zero
local t = { [0] = "z" } eq(t[-0.0], "z") eq(t[0.0], "z")
--- tables and functions as keys
local k, f = {}, function() end local t = { [k] = 1, [f] = 2, [print] = 3 } eq(t[k], 1) eq(t[f], 2) eq(t[print], 3) eq(t[{}], nil)
--- keys of objects keep an order
local t, o = {}, {} for i = 1, 9 do o[i] = {} t[o[i]] = i end local n, m = 0, 0 for k, v in pairs(t) do n = n + v end for k, v in next, t do m = m + v end eq(n, 45) eq(m, 45)
--- members may be removed while walking
local t = {} for i = 1, 100 do t["k" .. i] = i end local n = 0 for k in pairs(t) do t[k] = nil n = n + 1 end eq(n, 100) eq(next(t), nil) t.a = 1 eq(t.a, 1)
--- members may be changed while walking
local t = { a = 1, b = 2, c = 3 } for k, v in pairs(t) do t[k] = v * 2 end eq(t.a + t.b + t.c, 12)
--- a table that is filled and emptied again and again
local t = {} for r = 1, 20 do for i = 1, 30 do t["k" .. i] = i end for i = 1, 30 do t["k" .. i] = nil end end eq(next(t), nil) t.x = 1 t.y = 2 eq(t.x + t.y, 3)
--- a queue
local q, first, last = {}, 1, 0 for i = 1, 500 do last = last + 1 q[last] = i if i % 3 > 0 then q[first] = nil first = first + 1 end end eq(last - first + 1, 500 - 334) eq(q[first], 335)
--- a stack
local s = {} for i = 1, 200 do s[#s + 1] = i end for i = 1, 150 do s[#s] = nil end eq(#s, 50) for i = 1, 100 do s[#s + 1] = i end eq(#s, 150) eq(s[51], 1)
--- a list filled from its end
local t = {} for i = 100, 1, -1 do t[i] = i end eq(#t, 100) local n = 0 for i, v in ipairs(t) do n = n + v end eq(n, 5050)
--- a list with records between
local t = {} for i = 1, 40 do t[i] = i t["s" .. i] = i t[-i] = i end eq(#t, 40) t[41] = 1 eq(#t, 41) for i = 1, 40 do t["s" .. i] = nil end t.new = 1 eq(t[-40], 40)
--- sparse keys
local t = {} for i = 0, 40 do t[1 << i] = i end for i = 0, 40 do eq(t[1 << i], i) end t.x = 1 t[3] = 3 eq(t[3], 3)
--- removed members come back
local t = { a = 1, b = 2, c = 3, d = 4 } t.a = nil t.b = nil t.e = 5 t.a = 6 t.f = 7 t.g = 8 t.h = 9 eq(t.a + t.c + t.d + t.e + t.f + t.g + t.h, 42)
--- globals removed and made
for i = 1, 50 do _G["G_x" .. i] = i end for i = 1, 50 do _G["G_x" .. i] = nil end G_y = 1 G_y = nil G_z = 2 eq(G_z, 2) G_z = nil
--- length
eq(#{}, 0) eq(#{ 1, 2, 3 }, 3) eq(#{ n = 1 }, 0) eq(#"abc", 3) local t = {} t[1] = 1 t[2] = 2 t[4] = 4 eq(#t == 2 or #t == 4, true)
--- next
eq(next({}), nil) eq(next({ 5 }), 1) same(pack(next({ a = 7 })), "a", 7) eq(next({ 1 }, 1), nil)
--- next of a key that is not there
fails("invalid key to 'next'", function() next({ 10, 20 }, "x") end) fails("invalid key to 'next'", function() next({}, 1) end) fails("invalid key to 'next'", function() next({ a = 1 }, {}) end) fails("invalid key to 'next'", function() next({ 1, 2 }, 1.5) end)
--- next of a place behind a list
fails("invalid key to 'next'", function() next({ 10, 20 }, 3) end)
--# piccolo: `next` with an integer
--- next refuses what is no table
fails("(table expected, got number)", function() next(1) end)
--- a whole walk by next
local t, n, k, v = { 1, 2, a = 3, b = 4, [1.5] = 5 }, 0 k, v = next(t) while k do n = n + v k, v = next(t, k) end eq(n, 15)
--- two walks by next at once
local t, n = { a = 1, b = 2, c = 3 }, 0 for k in next, t do for j in next, t do n = n + 1 end end eq(n, 9)
--- ipairs ends at the first nil
local n = 0 for i in ipairs({ 1, 2, nil, 4 }) do n = i end eq(n, 2) for i in ipairs({}) do error("never") end
--- ipairs gives three values
local f, t, i = ipairs({ 7 }) same(pack(f(t, i)), 1, 7) same(pack(f(t, 1)), nil) eq(i, 0)
--- pairs needs a table
fails("bad argument #1 to 'for iterator' (table expected, got nil)", function() for k in pairs(nil) do end end)
--- insert
local t = {} table.insert(t, "a") table.insert(t, 1, "b") table.insert(t, 2, "c") table.insert(t, 4, "d") eq(table.concat(t), "bcad")
--- insert refuses
fails("bad argument #2 to 'insert' (position out of bounds)", function() table.insert({ 1 }, 3, "x") end) fails("bad argument #2 to 'insert' (position out of bounds)", function() table.insert({}, 0, "x") end)
fails("wrong number of arguments to 'insert'", function() table.insert({}) end) fails("wrong number of arguments to 'insert'", function() table.insert({}, 1, 2, 3) end)
--- remove
local t = { 1, 2, 3, 4 } eq(table.remove(t), 4) eq(table.remove(t, 1), 1) eq(table.remove(t, 1), 2) eq(#t, 1) eq(table.remove(t), 3) eq(table.remove(t), nil) eq(table.remove({}), nil)
--- remove at the border
local t = { 1 } eq(table.remove(t, 2), nil) eq(#t, 1) eq(table.remove({}, 0), nil) fails("bad argument #2 to 'remove' (position out of bounds)", function() table.remove({ 1, 2 }, 4) end)
--- concat
eq(table.concat({}), "") eq(table.concat({ 1, 2.5, "x" }, "-"), "1-2.5-x") eq(table.concat({ 1, 2, 3 }, ",", 2), "2,3") eq(table.concat({ 1, 2, 3 }, ",", 2, 2), "2") eq(table.concat({ 1 }, ",", 3, 2), "")
--- concat refuses
fails("invalid value (table) at index 2 in table for 'concat'", function() table.concat({ 1, {}, 3 }) end) fails("invalid value (boolean) at index 1 in table for 'concat'", function() table.concat({ true }) end) fails("invalid value (nil) at index 3 in table for 'concat'", function() table.concat({ 1, 2 }, "", 1, 3) end)
--- pack and unpack
local t = table.pack() eq(t.n, 0) local t = table.pack(nil, 2, nil) eq(t.n, 3) eq(t[2], 2) same(pack(table.unpack({ 1, 2, 3 })), 1, 2, 3) same(pack(table.unpack({ 1, 2, 3 }, 2)), 2, 3) same(pack(table.unpack({ 1, 2 }, 1, 3)), 1, 2, nil) same(pack(table.unpack({}, 1, 0)))
--- unpack at the edges of integers
same(pack(table.unpack({ [math.maxinteger] = 5 }, math.maxinteger, math.maxinteger)), 5) same(pack(table.unpack({}, math.maxinteger, 1))) fails("too many results to unpack", function() table.unpack({}, 1, 1e8) end) fails("too many results to unpack", function() table.unpack({}, math.mininteger, math.maxinteger) end)
--- pack with many holes
local t = table.pack(1, nil, nil, nil, 5, nil, nil, nil, nil, 10) eq(t.n, 10) eq(t[10], 10) t.x = 1 t.y = 2 t.z = 3 eq(t.x + t.y + t.z, 6)
--- move
eq(table.concat(table.move({ 1, 2, 3 }, 1, 3, 2)), "1123") eq(table.concat(table.move({ 1, 2, 3 }, 2, 3, 1)), "233") eq(table.concat(table.move({ 1, 2, 3 }, 1, 3, 1, {})), "123") eq(#table.move({ 1, 2 }, 1, 0, 5), 2)
--- move refuses
fails("too many elements to move", function() table.move({}, math.mininteger, math.maxinteger, 1) end) fails("destination wrap around", function() table.move({}, 1, 2, math.maxinteger) end)
--- sort
local t = { 3, 1, 2 } table.sort(t) eq(table.concat(t), "123") local t = { "b", "a", "C" } table.sort(t) eq(table.concat(t), "Cab") local t = {} table.sort(t) eq(#t, 0)
--- sort with an order
local t = { 1, 2, 3, 4, 5 } table.sort(t, function(a, b) return a > b end) eq(table.concat(t), "54321") local t = { "ccc", "a", "bb" } table.sort(t, function(a, b) return #a < #b end) eq(table.concat(t, ","), "a,bb,ccc")
--- sort of many
local t, x = {}, 1 for i = 1, 500 do x = (x * 1103 + 12345) % 65536 t[i] = x end table.sort(t) for i = 2, 500 do if t[i - 1] > t[i] then error("order") end end
--- sort of what was sorted, reversed, alike
local t = {} for i = 1, 100 do t[i] = i end table.sort(t) eq(t[1], 1) table.sort(t, function(a, b) return a > b end) eq(t[1], 100) local t = {} for i = 1, 50 do t[i] = 7 end table.sort(t) eq(t[50], 7)
--- sort of integers and floats together
local t = { 2.5, 1, 2, 1.5, -1, 1/0, -1/0 } table.sort(t) eq(t[1], -1/0) eq(t[2], -1) eq(t[4], 1.5) eq(t[7], 1/0)
--- sort refuses
fails("attempt to compare", function() table.sort({ 1, "x" }) end) fails("attempt to compare two table values", function() table.sort({ {}, {} }) end) fails("bad argument #2 to 'sort' (function expected, got number)", function() table.sort({ 1, 2 }, 5) end)
--- sort by events
local mt = { __lt = function(a, b) return a.n < b.n end } local t = {} for _, n in ipairs({ 3, 1, 2 }) do t[#t + 1] = setmetatable({ n = n }, mt) end table.sort(t) eq(t[1].n, 1) eq(t[3].n, 3)
--- sort raises what its order raises
local ok, e = pcall(table.sort, { 3, 2, 1 }, function() error("stop", 0) end) eq(e, "stop")
--- a constructor with many items
local t = { 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60, x = 1, y = 2 } eq(#t, 60) t.z = 3 eq(t.x + t.y + t.z, 6)
--- lists of lists
local m = {} for i = 1, 10 do m[i] = {} for j = 1, 10 do m[i][j] = i * j end end local s = 0 for i = 1, 10 do for j = 1, 10 do s = s + m[i][j] end end eq(s, 3025)
--- a table that holds itself
local t = {} t.t = t eq(t.t.t.t, t) t[t] = t eq(t[t], t)
--- copies
local function copy(t) local c = {} for k, v in pairs(t) do c[k] = type(v) == "table" and copy(v) or v end return c end local a = { 1, { 2, x = { 3 } } } local b = copy(a) b[2].x[1] = 9 eq(a[2].x[1], 3) eq(b[2][1], 2)
--- sets and counts
local n = {} for w in ("a b a c b a"):gmatch("%a") do n[w] = (n[w] or 0) + 1 end eq(n.a, 3) eq(n.b, 2) eq(n.c, 1)
--- growing lists of every length
for n = 1, 70 do local t = { k = 1 } for i = 1, n do t[i] = i end t.a, t.b, t.c = 1, 2, 3 t[n + 1] = 0 eq(#t, n + 1) for i = n + 1, 1, -1 do t[i] = nil end eq(#t, 0) t.d = 4 t[1] = 1 eq(#t, 1) end
--- a constructor as the only argument of a call
local function id(t) return t end local o = { id = function(_, t) return t end } local t = id{ 1, x = 2, 3 } eq(t[2] + t.x, 5) eq(#id{ id(1), id(2) }, 2) eq(#o:id{ 1, 2, x = 3 }, 2) eq(o:id{ k = 1, id(7) }[1], 7) eq(id{ [id("a")] = 5 }.a, 5) eq(#id { (id(1)) }, 1)
--- the length of a list with holes from a constructor
local function f() return nil, 5 end eq(#{ next({}), 2, f() }, 4) eq(#{ f() }, 2)
--- texts made anew are the same keys
local t = { a1 = 1 } t["a" .. 1] = nil t["a" .. 1] = 2 eq(t.a1, 2) eq(t["a" .. 1], 2) G_k1 = 1 _G["G_k" .. 1] = nil _G["G_k" .. 1] = 5 eq(G_k1, 5) G_k1 = nil
for r = 1, 5 do for i = 1, 30 do t["k" .. i] = i end for i = 1, 30, 2 do t["k" .. i] = nil end for i = 1, 30 do t["k" .. i] = -i end for i = 1, 30 do eq(t["k" .. i], -i) end end eq(t.k7, -7)
