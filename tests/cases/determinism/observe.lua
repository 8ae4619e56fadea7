-- Prints whatever a plan can see. Two runs must print the same bytes.
local function line(...)
  print(...)
end

local function walk(name, container)
  local parts = {}
  for key, value in pairs(container) do
    parts[#parts + 1] = tostring(key) .. "=" .. tostring(value)
  end
  line(name, table.concat(parts, " "))
  parts = {}
  local key, value = next(container)
  while key ~= nil do
    parts[#parts + 1] = tostring(key)
    key, value = next(container, key)
  end
  line(name, "next", table.concat(parts, " "))
end

local function tables(context)
  walk("context", context)
  walk("texts", { z = 1, a = 2, m = 3, ["with space"] = 4, [""] = 5, ["\255"] = 6 })
  walk("mixed", { 10, 20, 30, x = 1, [true] = 2, [false] = 3, [2.5] = 4, [-1] = 5, [2 ^ 53] = 6, [math.huge] = 7 })
  walk("sparse", { [1] = 1, [3] = 3, [1000000] = 4, [math.mininteger] = 5 })
  local grown = {}
  for i = 1, 300 do grown["key" .. (i * 7919) % 1009] = i end
  for i = 1, 300, 2 do grown["key" .. (i * 7919) % 1009] = nil end
  for i = 1, 50 do grown[i * 3] = i end
  walk("grown", grown)
  local objects = {}
  for i = 1, 40 do objects[{}] = i end
  for i = 1, 5 do objects[function() return i end] = "function " .. i end
  for i = 1, 5 do objects[coroutine.create(function() return i end)] = "thread " .. i end
  objects[print], objects[string.rep], objects[pairs], objects[walk] = "print", "rep", "pairs", "walk"
  objects[json.encode], objects[math.floor] = "encode", "floor"
  walk("objects", objects)
  local holes = { 1, 2, nil, 4, nil, nil, 7 }
  holes[9], holes[12] = 9, 12
  line("holes", #holes, #{ nil, nil, 3 }, #{ 1, nil, 3, nil }, select("#", table.unpack(holes)))
  for i = 1, 20 do holes[i] = i end
  for i = 20, 3, -3 do holes[i] = nil end
  line("holes", #holes, rawlen(holes), next({}), table.pack(nil, nil).n)
end

local function names()
  line("tostring", {}, print, line, coroutine.create(line), json, string, context, nil, true)
  line("again", tostring({}), tostring(setmetatable({}, { __name = "Kind" })), tostring(print))
  walk("_G", _G)
  for _, library in ipairs({ "string", "table", "math", "coroutine", "utf8", "json", "date", "text", "csv", "stats", "list" }) do
    walk(library, _G[library])
  end
  line("absent", os, io, debug, load, require, collectgarbage, math.random, string.dump)
  line(getmetatable(""), getmetatable({}), _VERSION)
  line(coroutine.running(), coroutine.isyieldable(), coroutine.status(coroutine.create(line)))
  line(pcall(string.format, "%p", {}))
end

local function sorting()
  local rows = {}
  for i = 1, 100 do rows[i] = { key = i * 31 % 7, id = i } end
  local compared = 0
  table.sort(rows, function(a, b) compared = compared + 1 return a.key < b.key end)
  local ids = {}
  for i, row in ipairs(rows) do ids[i] = row.id end
  line("equal keys", compared, table.concat(ids, " "))
  line("sort_by", json.encode(list.map(list.sort_by(rows, "key"), "id")))
  line("mixed", pcall(table.sort, { 3, "x", 1, {}, true }))
  local bad = {}
  for i = 1, 50 do bad[i] = i * 17 % 23 end
  table.sort(bad, function(a, b) compared = compared + 1 return true end)
  line("no order", compared, table.concat(bad, " "))
  local zeros = { 0.0, -0.0, 0, 1, -0.0, 1.0 }
  table.sort(zeros)
  for i, zero in ipairs(zeros) do zeros[i] = tostring(zero) end
  line("zeros", table.concat(zeros, " "))
end

local function numbers()
  for _, number in ipairs({ 0.1, 1 / 3, 1e15, 1e16, 1e100, -0.0, 2 ^ 53, 2 ^ 63, 1 / 0, -1 / 0, 0 / 0, -(0 / 0), 5e-324, 123456789.123 }) do
    line(number, string.format("%g %e %f %.3f %a %10.2g|%q", number, number, number, number, number, number, number))
  end
  line(math.maxinteger + 1, math.mininteger // -1, 7 // 0.0, -7 % math.huge, 3 | 0, 2 ^ 0.5, math.pi, 10 // 3, -7 // 2)
  line(math.sin(1), math.cos(1), math.tan(1), math.exp(1), math.log(2), math.log(8, 2), math.sqrt(2), math.atan(1, 2))
end

local function failing()
  local failures = {
    function() return nil + 1 end, function() return {} .. {} end, function() return {} < {} end,
    function() return #nil end, function() local t t.x = 1 end, function() return ("x"):nothing() end,
    function() error({}) end, function() error(print) end, function() error(coroutine.create(line)) end,
    function() error(nil) end, function() string.rep() end, function() ("x"):rep({}) end,
    function() return 1 // 0 end, function() return 1 & 1.5 end, function() table.concat({ {} }) end,
    function() setmetatable({}, { __gc = line }) end, function() table.insert({}, 5, 5) end,
    function() for i = 1, 10, 0 do end end, function() json.decode("{") end, function() date.parse("x") end,
    function() string.rep("x", -1)() end, function() return _G.missing.field end, function() next({}, 1) end,
    function() echo(print) end, function() echo({ [1.5] = 1 }) end, function() local r = fail("no") line(r.code) r.x = 1 end,
    function() local function deep(n) return n == 0 and error("deep", 2) or deep(n - 1) + 1 end deep(50) end,
  }
  for place, f in ipairs(failures) do
    line("failure", place, pcall(f))
    line("handled", place, xpcall(f, function(reason) return type(reason), tostring(reason) end))
  end
end

local function flow()
  local co = coroutine.wrap(function(...)
    local got = ...
    while true do got = coroutine.yield(got, coroutine.running()) end
  end)
  line(co(1))
  line(co({}))
  line(pcall(coroutine.wrap(function() error({}) end)))
  line(parallel({ function() return echo(1) end, b = function() return echo(2) end, a = function() return echo(3) end }).a)
  local order = {}
  parallel({
    function() for i = 1, 3 do order[#order + 1] = "x" .. echo(i) end end,
    function() for i = 1, 2 do order[#order + 1] = "y" .. echo(i) end end,
  })
  line(table.concat(order, " "))
  line(retry(3, function() local r = fail("again") line(r.error, r.code, r.status, r.retryable) return r end).error)
  line(json.encode(echo({ z = 1, a = { 2, 3 }, list = {} })))
end

local function library()
  line(json.encode({ b = 1, a = { 1, 2, { c = 1.5 } }, d = "\u{20AC}" }), json.encode(json.decode('{"z":1,"a":[null,{}]}')))
  line(date.add("2024-02-28", { days = 2 }), date.weekday("2024-02-29"))
  line(json.encode(csv.parse("a,b\n1,2\n3,4\n")), text.trim("  x "), json.encode(text.split("a,b", ",")))
  local groups = list.group_by({ { k = "x", v = 1 }, { k = "a", v = 2 }, { k = "x", v = 3 } }, "k")
  line(json.encode(groups), stats.mean({ 1, 2, 3, 4 }), stats.median({ 4, 1, 3 }), math.round(2.567, 1))
  for word, place in ("one two  three"):gmatch("(%a+)()") do line(word, place) end
  line(("hello"):gsub("l", { l = 1 }), ("x"):byte(), utf8.char(228, 8364), string.pack("<i4z", 7, "s"):byte(1, -1))
end

function run(context)
  for place, part in ipairs({ tables, names, sorting, numbers, failing, flow, library }) do
    local ok, reason = pcall(part, context)
    line("part", place, ok, reason)
  end
  return { seen = "all", _G = list.keys(_G) }
end
