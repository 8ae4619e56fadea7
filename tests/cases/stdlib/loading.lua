-- The libraries are put together when first used; a plan cannot tell.
for _, name in ipairs({ "json", "date", "text", "csv", "stats", "list" }) do
  equal(type(_G[name]), "table")
  assert(getmetatable(_G[name]) == nil or getmetatable(_G[name]) == false)
end
local names = {}
for name in pairs(csv) do names[#names + 1] = name end
table.sort(names)
equal(names, { "encode", "parse" })
equal(text.no_such_function, nil)
equal(type(text.trim), "function")
equal(rawget(text, "no_such_function"), nil)

-- What a plan sets itself stays, before and after.
stats.mean = function() return "mine" end
equal(stats.mean({ 1 }), "mine")
equal(stats.sum({ 1 }), 1)

-- What a plan does to Lua's own functions does not reach the library.
local real_type, real_pairs, real_tonumber = type, pairs, tonumber
type, pairs, tonumber, select = nil, nil, nil, nil
math.floor, math.sqrt, math.tointeger = nil, nil, nil
local keys, taken = list.keys({ b = 1, a = 2 }), list.take({ 1, 2 }, "1")
local filtered = list.filter({ { a = 1 }, { a = 2 } }, { a = 2 })
type, pairs, tonumber = real_type, real_pairs, real_tonumber
equal(keys, { "a", "b" })
equal(taken, { 1 })
equal(filtered, { { a = 2 } })
