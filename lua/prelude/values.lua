-- The basic functions that would otherwise show an address, a hash order, a hidden metatable, or the
-- inside of a strict error value.

local host, core = ...
local records, misuse, mark, raise = core.records, core.misuse, host.mark, host.raise

local stock_type, stock_tostring, stock_next = type, tostring, next
local stock_pairs, stock_ipairs = pairs, ipairs
local stock_getmetatable, stock_setmetatable = getmetatable, setmetatable
local stock_rawget, stock_rawset, stock_rawlen = rawget, rawset, rawlen
local rawequal, select, error = rawequal, select, error
local match, concat, stock_sort, sort_keys = string.match, table.concat, table.sort, host.native.table_sort_keys
local number_kind = math.type
-- Tables, functions and coroutines in the order they were made.
local by_age = host.by_age

-- Refuses a strict error value.
local function refuse_failure(value)
  local record = value ~= nil and records[value]
  if record then
    misuse(record)
  end
end

function type(...)
  local name = stock_type(...)
  if name == "table" then
    local record = records[(...)]
    if record then
      record.looked = true
    end
  end
  return name
end

-- Numbers instead of addresses, given out when first asked for.
local numbers = stock_setmetatable({}, { __mode = "k" })
local last_number = 0

local function number_of(value)
  local number = numbers[value]
  if not number then
    last_number = last_number + 1
    number = last_number
    numbers[value] = number
  end
  return number
end

function tostring(...)
  local value = ...
  local text = stock_tostring(...)
  local kind = stock_type(value)
  if kind == "table" then
    -- Text from `__tostring` has no address; a `__name` stays in front of the number.
    local head = match(text, "^(.*: )[0x]*%x+$")
    return head and head .. number_of(value) or text
  elseif kind == "userdata" then
    return "null"
  elseif kind == "function" or kind == "thread" then
    return kind .. ": " .. number_of(value)
  end
  return text
end
local tostring = tostring

function print(...)
  local count = select("#", ...)
  local parts = { ... }
  for place = 1, count do
    parts[place] = tostring(parts[place])
  end
  host.emit(concat(parts, "\t", 1, count) .. "\n")
end

-- Arguments are passed on unchanged: an absent one is not the same as nil.
function rawget(...)
  refuse_failure((...))
  return stock_rawget(...)
end

function rawset(...)
  refuse_failure((...))
  return stock_rawset(...)
end

function rawlen(...)
  refuse_failure((...))
  return stock_rawlen(...)
end

-- The keys and key set of a table from the host, if the plan has not put its own metatable on it.
local function shape_of(container)
  local metatable = stock_getmetatable(container)
  if stock_type(metatable) == "table" and rawequal(stock_rawget(metatable, 1), mark) then
    return metatable
  end
end

-- Refuses, as a list, a table that came from the host with named members and that has no items: Lua sees an empty
-- list in it, and a plan would report that nothing was found.
local NAMES_SHOWN = 8

local function refuse_record(container, user)
  local shape = stock_rawget(container, 1) == nil and stock_next(container) ~= nil and shape_of(container)
  local names = shape and stock_rawget(shape, 2)
  if names then
    local shown = concat(names, "`, `", 1, #names < NAMES_SHOWN and #names or NAMES_SHOWN)
    raise("record_used_as_list", user .. " needs a list, and this is a record with the fields `" .. shown
      .. "`; use one of its fields, or `pairs` for names and values")
  end
end
core.refuse_record = refuse_record

-- The functions of the plan library pass their own name as `user`.
function ipairs(...)
  local container, user = ...
  if stock_type(container) == "table" and not records[container] then
    refuse_record(container, stock_type(user) == "string" and user or "ipairs")
  end
  return stock_ipairs(...)
end

-- Keys come in an unspecified order, so the cost of sorting must not depend on it.
local function sort(keys)
  if sort_keys then
    sort_keys(keys, #keys)
  else
    stock_sort(keys)
  end
end

local function sorted_keys(container, keys, count)
  local shape = shape_of(container)
  local known = shape and shape[3]
  local integers, floats, strings, others = {}, {}, {}, {}
  local yes, no = false, false
  for place = 1, count do
    local key = keys[place]
    local kind = number_kind(key)
    if kind == "integer" then
      integers[#integers + 1] = key
    elseif kind == "float" then
      floats[#floats + 1] = key
    elseif stock_type(key) == "string" then
      if not (known and known[key]) then
        strings[#strings + 1] = key
      end
    elseif key == true then
      yes = true
    elseif key == false then
      no = true
    else
      others[#others + 1] = key
    end
  end
  sort(integers)
  sort(floats)
  sort(strings)
  if #others > 1 then
    others = by_age(others)
  end

  local ordered, filled = {}, 0
  local function add(list)
    for place = 1, #list do
      filled = filled + 1
      ordered[filled] = list[place]
    end
  end
  if known then
    local names = shape[2]
    for place = 1, #names do
      if stock_rawget(container, names[place]) ~= nil then
        filled = filled + 1
        ordered[filled] = names[place]
      end
    end
  end
  add(integers)
  add(floats)
  add(strings)
  if no then
    add({ false })
  end
  if yes then
    add({ true })
  end
  add(others)
  return ordered, count
end

-- The keys of a table in a deterministic order, and how many there are.
local function keys_in_order(container)
  local keys, count, plain = {}, 0, true
  for key in stock_next, container do
    count = count + 1
    keys[count] = key
    plain = plain and key == count
  end
  if plain then
    return keys, count
  end
  return sorted_keys(container, keys, count)
end
-- An engine on which this cost would vary from run to run provides its own.
local ordered_keys = host.ordered_keys or keys_in_order
core.ordered_keys = ordered_keys

function pairs(...)
  local container = ...
  refuse_failure(container)
  local iterate, state, first = stock_pairs(...)
  if iterate ~= stock_next then
    return iterate, state, first
  end
  local keys, count = ordered_keys(container)
  local place = 0
  return function()
    while place < count do
      place = place + 1
      local key = keys[place]
      local value = stock_rawget(container, key)
      if value ~= nil then
        return key, value
      end
    end
  end, container, nil
end

-- `next` walks the same order. The current walk is kept, so that a whole walk is not quadratic.
local walk = {}

function next(container, key)
  refuse_failure(container)
  if key == nil then
    if stock_next(container) == nil then
      return nil
    end
    local keys, count = ordered_keys(container)
    walk = { container = container, keys = keys, count = count, place = 1 }
    return keys[1], stock_rawget(container, keys[1])
  end
  if not (walk.container == container and rawequal(walk.keys[walk.place], key)) then
    stock_next(container, key) -- raises for a key that is not there
    local keys, count = ordered_keys(container)
    local place = 1
    while place <= count and not rawequal(keys[place], key) do
      place = place + 1
    end
    walk = { container = container, keys = keys, count = count, place = place }
  end
  while walk.place < walk.count do
    walk.place = walk.place + 1
    local following = walk.keys[walk.place]
    local value = stock_rawget(container, following)
    if value ~= nil then
      return following, value
    end
  end
  walk = {}
  return nil
end

function getmetatable(...)
  local metatable = stock_getmetatable(...)
  if stock_type(metatable) == "table" and rawequal(stock_rawget(metatable, 1), mark) then
    return nil
  end
  return metatable
end

-- A raised value passes through `__close` on its way out, where a handler could replace it: so the end
-- of a run is recognised before the plan's handler runs.
local guarded = stock_setmetatable({}, { __mode = "k" })

local function guard_close(metatable)
  local close = stock_rawget(metatable, "__close")
  if stock_type(close) == "function" and not guarded[close] then
    local function guard(value, reason)
      if reason ~= nil then
        reason = host.caught(reason)
      end
      return close(value, reason)
    end
    guarded[guard] = true
    stock_rawset(metatable, "__close", guard)
  end
end

function setmetatable(...)
  local container, metatable = ...
  refuse_failure(container)
  if stock_type(metatable) == "table" then
    refuse_failure(metatable)
    if stock_rawget(metatable, "__gc") ~= nil then
      error("`__gc` is not available in a plan", 2)
    elseif stock_rawget(metatable, "__mode") ~= nil then
      error("`__mode` is not available in a plan", 2)
    end
    guard_close(metatable)
  end
  return stock_setmetatable(...)
end
