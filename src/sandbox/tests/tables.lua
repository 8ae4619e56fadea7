-- Generated calls of the table library, recorded line by line. Runs in a plan and in bare Lua alike.

local CASES, SEED = ...

local function generator(seed)
  local state = seed
  return function(limit)
    state = state + 0x9e3779b97f4a7c15
    local mixed = (state ~ (state >> 30)) * 0xbf58476d1ce4e5b9
    mixed = (mixed ~ (mixed >> 27)) * 0x94d049bb133111eb
    return ((mixed ~ (mixed >> 31)) >> 1) % limit
  end
end

local max, least = math.maxinteger, math.mininteger
local type, pcall, error, select, setmetatable, tostring = type, pcall, error, select, setmetatable, tostring
local rawget, rawset, next, format = rawget, rawset, next, string.format

local function show(value)
  local kind = type(value)
  if kind == "string" then
    return format("%q", value)
  elseif kind == "table" or kind == "function" then
    return kind
  end
  return tostring(value)
end

local function run_case(random)
  local log = {}
  local function note(...)
    log[#log + 1] = table.concat({ ... }, " ")
  end

  local function item(kind)
    if kind == 1 then
      return random(20) - 5
    elseif kind == 2 then
      return ("abcab"):sub(random(5) + 1, random(8)) .. (random(4) == 0 and "\0z" or "")
    elseif kind == 3 then
      return (random(200) - 100) / 8
    elseif kind == 4 then
      return ({ random(9), random(9) + 0.25, "s" .. random(9), random(2) == 0, {} })[random(40) // 8 + 1]
    end
    return random(2) == 0 and random(9) or random(9) + 0.5
  end

  local contents = {} -- what the tables of this case hold, for telling at the end

  local function list(for_sort)
    local kind, size = random(5) + 1, random(for_sort and 40 or 9)
    local store = {}
    for place = 1, size do
      store[place] = item(kind)
    end
    if random(5) == 0 and size > 1 and not for_sort then
      store[random(size) + 1] = nil
    end
    local shape = random(8)
    if shape <= 3 then
      contents[#contents + 1] = store
      return store, size, false
    elseif shape == 4 then
      contents[#contents + 1] = store
      return setmetatable(store, { __index = { 7, 8, 9, 10, 11, 12, 13 } }), size, false
    elseif shape == 5 and not for_sort then
      contents[#contents + 1] = store
      local length = random(6)
      return setmetatable(store, { __len = function() return length end }), length, false
    end
    local length = size
    if random(3) == 0 and not for_sort then
      length = ({ max, -1, 0, 3.0, "4", 2.5, "x", least, {}, max - 1 })[random(10) + 1]
    end
    local left = for_sort and 10000 or 30
    local function access()
      left = left - 1
      if left < 0 then
        error("enough")
      end
    end
    contents[#contents + 1] = store
    local quiet = for_sort
    return setmetatable({}, {
      __index = function(_, key)
        access()
        if not quiet then
          note("get", show(key))
        end
        return store[key]
      end,
      __newindex = function(_, key, value)
        access()
        if not quiet then
          note("set", show(key), show(value))
        end
        store[key] = value
      end,
      __len = function()
        note("len")
        return length
      end,
    }), size, true
  end

  local function place(size)
    local chance = random(40)
    if chance == 0 then
      return ({ "2", "x", 2.5, {}, true, "0x1", max, least, 2.0, 1e300 })[random(10) + 1]
    elseif chance == 1 then
      return nil
    end
    return random(size + 4) - 1
  end

  local function anything()
    return ({ {}, 5, "text", true, 0.5 })[random(5) + 1]
  end

  local name = ({ "insert", "remove", "move", "concat", "unpack", "sort" })[random(6) + 1]
  local subject, size, guarded = list(name == "sort")
  if random(30) == 0 then
    subject, guarded = anything(), false
  elseif random(60) == 0 then
    subject = nil
  end
  local function call(...)
    note(name, show(subject), select("#", ...))
    for index = 1, select("#", ...) do
      note("argument", show((select(index, ...))))
    end
    local results
    local outcome = table.pack(pcall(function(...)
      if name == "insert" then
        results = table.pack(table.insert(...))
      elseif name == "remove" then
        results = table.pack(table.remove(...))
      elseif name == "move" then
        results = table.pack(table.move(...))
      elseif name == "concat" then
        results = table.pack(table.concat(...))
      elseif name == "unpack" then
        results = table.pack(table.unpack(...))
      else
        results = table.pack(table.sort(...))
      end
    end, subject, ...))
    if outcome[1] then
      for index = 1, results.n do
        note("result", show(results[index]))
      end
    elseif name == "sort" then
      -- Lua does not specify the order of comparisons, nor how far the list was sorted by then.
      note("failed", (tostring(outcome[2]):find("attempt to compare", 1, true)) and "comparing" or outcome[2])
      return
    else
      -- Where C reads a value that has no items, it names no line.
      local reason = outcome[2]
      note("failed", type(reason) == "string" and reason:gsub("^plan.lua:%d+: attempt to", "attempt to") or reason)
    end
    for _, store in next, contents do
      local line, count = {}, 0
      for index = -3, 45 do
        local value = rawget(store, index)
        if value ~= nil then
          count = count + 1
          line[count] = index .. "=" .. show(value)
        end
      end
      for index = 0, 4 do
        local value = rawget(store, max - index)
        if value ~= nil then
          count = count + 1
          line[count] = "max-" .. index .. "=" .. show(value)
        end
      end
      note("holds", table.concat(line, " "))
    end
  end

  if name == "insert" then
    local chance = random(20)
    if chance == 0 then
      call()
    elseif chance == 1 then
      call(1, 2, 3)
    elseif chance < 8 then
      call(item(4))
    else
      call(place(size), item(4))
    end
  elseif name == "remove" then
    if random(3) == 0 then
      call()
    else
      call(place(size))
    end
  elseif name == "move" then
    local first, last, to = place(size), place(size), place(size)
    local chance = random(12)
    if chance == 0 then
      first, last, to = max - random(3), max - random(2), random(9)
    elseif chance == 1 then
      first, last, to = random(3), random(3), max - random(3)
    elseif chance == 2 then
      first, last, to = least + random(3), max - random(3), 1
    elseif chance == 3 then
      first, last, to = least, least + random(3), least + random(5)
    elseif chance == 4 and guarded then
      first, last, to = random(3), max - 3, random(3)
    elseif (math.tointeger(first) or 0) - (math.tointeger(last) or 0) < -100 or first == least or last == max then
      first, last = 1, 3
    end
    local other = random(3)
    if other == 0 then
      call(first, last, to, (list(false)))
    elseif other == 1 then
      call(first, last, to, random(20) == 0 and anything() or nil)
    elseif random(20) == 0 then
      call(first, last)
    else
      call(first, last, to)
    end
  elseif name == "concat" then
    local chance = random(12)
    if chance == 0 then
      call(", ", random(3), max)
    elseif chance == 1 then
      call(anything())
    elseif chance < 5 then
      call()
    elseif chance < 8 then
      call(({ "", ", ", 7, 0.5 })[random(4) + 1])
    else
      call(", ", place(size), place(size))
    end
  elseif name == "unpack" then
    local chance = random(12)
    if chance == 0 then
      call(least, max)
    elseif chance == 1 then
      call(1, 1 << 40)
    elseif chance == 2 then
      call(max - 2, max)
    elseif chance < 6 then
      call()
    else
      local first, last = place(size), place(size)
      if (math.tointeger(last) or 0) - (math.tointeger(first) or 0) > 100 or first == least then
        first = 1
        last = 3
      end
      call(first, last)
    end
  else
    local chance = random(8)
    local key = {}
    local function more(left, right)
      return left > right
    end
    if chance == 0 then
      call(anything())
    elseif chance < 3 then
      call(more)
    elseif chance == 3 then
      call(function(left, right) return tostring(left) < tostring(right) end)
    elseif chance == 4 then
      call(nil)
    else
      call()
    end
  end
  return table.concat(log, "; ")
end

local lines = {}
for index = 1, CASES do
  lines[index] = run_case(generator(SEED ~ (index * 0x2545f4914f6cdd1d)))
end
return table.concat(lines, "\n")
