-- The functions of the table library that would run long inside C, or could not pause there.
--
-- Natives, which charge for their work, handle a table without metamethods; where an engine has no such
-- native, the loops of other tables do. On tables with metamethods each item goes through `__index` and
-- `__newindex` as in Lua, and a tool call may happen there.

local host, core = ...
local charge, native = host.charge, host.native
local raw_sort, raw_concat, raw_move = native.table_sort, native.table_concat, native.table_move

local stock_type, getmetatable, is_shaped = core.stock_type, core.getmetatable, core.is_shaped
local number_kind, to_integer, ult, min = math.type, math.tointeger, math.ult, math.min
local tonumber, error, select, rawequal = tonumber, error, select, rawequal
local stock_unpack, refuse_record = table.unpack, core.refuse_record

local LIST_MAX = 0x7fffffff
local UNPACKED_MAX = 1000000
local UNPACKED_FREE = 64

-- Whether no metamethod affects a table's length and items.
local function is_plain(list)
  return stock_type(list) == "table" and (getmetatable(list) == nil or is_shaped(list))
end

-- Raises at the plan's line: these are called by the functions the plan calls.
local function bad_argument(place, name, message)
  error("bad argument #" .. place .. " to '" .. name .. "' (" .. message .. ")", 3)
end

local function expected(place, name, wanted, value)
  local got = stock_type(value)
  error("bad argument #" .. place .. " to '" .. name .. "' (" .. wanted .. " expected, got " .. got .. ")", 3)
end

local function integer(value, place, name, is_absent)
  if number_kind(value) == "integer" then
    return value
  end
  local kind = stock_type(value)
  local number = (kind == "number" or kind == "string") and tonumber(value)
  if not number then
    local got = is_absent and "no value" or kind
    error("bad argument #" .. place .. " to '" .. name .. "' (number expected, got " .. got .. ")", 3)
  end
  local whole = to_integer(number)
  if not whole then
    error("bad argument #" .. place .. " to '" .. name .. "' (number has no integer representation)", 3)
  end
  return whole
end

-- A length that `__len` gave.
local function checked_length(length)
  if number_kind(length) == "integer" then
    return length
  end
  local kind = stock_type(length)
  local number = (kind == "number" or kind == "string") and tonumber(length)
  local whole = number and to_integer(number)
  if not whole then
    error("object length is not an integer", 3)
  end
  return whole
end

-- Copies `source[first..last]` to `target[to..]`, in the order that keeps what is still to be read.
local function move(source, first, last, to, target, is_same)
  local count = last - first
  if to > last or to <= first or not is_same then
    for step = 0, count do
      target[to + step] = source[first + step]
    end
  else
    for step = count, 0, -1 do
      target[to + step] = source[first + step]
    end
  end
end

-- The same within one table without metamethods.
local function shift(list, first, last, to)
  if last < first then
    return
  elseif raw_move then
    return raw_move(list, first, last, to, list)
  end
  move(list, first, last, to, list, true)
end

function table.insert(list, ...)
  local count = select("#", ...)
  local plain = is_plain(list)
  if plain and count == 1 then
    list[#list + 1] = (...)
    return
  elseif stock_type(list) ~= "table" then
    expected(1, "insert", "table", list)
  end
  local free = checked_length(#list) + 1
  if count == 1 then
    list[free] = (...)
    return
  elseif count ~= 2 then
    error("wrong number of arguments to 'insert'", 2)
  end
  local place, value = ...
  place = integer(place, 2, "insert")
  if not ult(place - 1, free) then
    bad_argument(2, "insert", "position out of bounds")
  end
  if plain then
    shift(list, place, free - 1, place + 1)
  else
    local index = free
    while index > place do
      list[index] = list[index - 1]
      index = index - 1
    end
  end
  list[place] = value
end

function table.remove(list, place)
  if stock_type(list) ~= "table" then
    expected(1, "remove", "table", list)
  end
  local plain = is_plain(list)
  local length = checked_length(#list)
  place = place == nil and length or integer(place, 2, "remove")
  if place ~= length and ult(length, place - 1) then
    bad_argument(2, "remove", "position out of bounds")
  end
  local removed = list[place]
  if plain and place < length then
    shift(list, place + 1, length, place)
    place = length
  end
  while place < length do
    list[place] = list[place + 1]
    place = place + 1
  end
  list[place] = nil
  return removed
end

function table.move(source, ...)
  local first, last, to, target = ...
  local given = select("#", ...)
  first = integer(first, 2, "move", given < 1)
  last = integer(last, 3, "move", given < 2)
  to = integer(to, 4, "move", given < 3)
  local place = target == nil and 1 or 5
  if stock_type(source) ~= "table" and not (stock_type(source) == "string") then
    expected(1, "move", "table", source)
  end
  if target == nil then
    target = source
  end
  if stock_type(target) ~= "table" then
    expected(place, "move", "table", target)
  end
  if last < first then
    return target
  elseif not (first > 0 or last < math.maxinteger + first) then
    bad_argument(3, "move", "too many elements to move")
  elseif to > math.maxinteger - (last - first) then
    bad_argument(4, "move", "destination wrap around")
  end
  if raw_move and is_plain(source) and is_plain(target) then
    raw_move(source, first, last, to, target)
  else
    move(source, first, last, to, target, place == 1 or source == target)
  end
  return target
end

function table.concat(list, separator, first, last)
  if stock_type(list) ~= "table" then
    expected(1, "concat", "table", list)
  end
  local length = checked_length(#list)
  if separator == nil then
    separator = ""
  elseif stock_type(separator) ~= "string" and stock_type(separator) ~= "number" then
    expected(2, "concat", "string", separator)
  end
  first = first == nil and 1 or integer(first, 3, "concat")
  last = last == nil and length or integer(last, 4, "concat")
  if length == 0 then
    refuse_record(list, "table.concat")
  end
  if is_plain(list) then
    return (raw_concat(list, separator, first, last))
  end
  local items, count, place = {}, 0, first
  while place <= last do
    local item = list[place]
    local kind = stock_type(item)
    if kind ~= "string" and kind ~= "number" then
      error("invalid value (" .. kind .. ") at index " .. place .. " in table for 'concat'", 2)
    end
    count = count + 1
    items[count] = item
    if place == last then
      break
    end
    place = place + 1
  end
  return (raw_concat(items, separator, 1, count))
end

function table.unpack(list, first, last)
  first = first == nil and 1 or integer(first, 2, "unpack")
  local kind = stock_type(list)
  if last ~= nil then
    last = integer(last, 3, "unpack")
  elseif kind == "table" or kind == "string" then
    last = checked_length(#list)
    if last == 0 and kind == "table" then
      refuse_record(list, "table.unpack")
    end
  else
    error("attempt to get length of a " .. kind .. " value", 2)
  end
  if first > last then
    return
  elseif not ult(last - first, UNPACKED_MAX) then
    error("too many results to unpack", 2)
  elseif kind ~= "table" and kind ~= "string" then
    error("attempt to index a " .. kind .. " value", 2)
  end
  local count = last - first + 1
  if count > UNPACKED_FREE then
    charge(count // 4)
  end
  if is_plain(list) then
    return stock_unpack(list, first, last)
  end
  local items = {}
  for place = 1, count do
    items[place] = list[first + place - 1]
  end
  return stock_unpack(items, 1, count)
end

local function less(left, right)
  return left < right
end

-- A stable merge sort: the same result and the same comparisons, every time; and it may pause.
local function merge_sort(items, count, before)
  local spare, width = {}, 1
  while width < count do
    for start = 1, count, 2 * width do
      local middle = min(start + width - 1, count)
      local stop = min(start + 2 * width - 1, count)
      local left, right = start, middle + 1
      for place = start, stop do
        if left <= middle and (right > stop or not before(items[right], items[left])) then
          spare[place] = items[left]
          left = left + 1
        else
          spare[place] = items[right]
          right = right + 1
        end
      end
    end
    items, spare = spare, items
    width = width * 2
  end
  return items
end

function table.sort(list, before)
  if stock_type(list) ~= "table" then
    expected(1, "sort", "table", list)
  end
  local count = checked_length(#list)
  if count < 2 then
    if count == 0 then
      refuse_record(list, "table.sort")
    end
    return
  elseif count >= LIST_MAX then
    bad_argument(1, "sort", "array too big")
  elseif before ~= nil and stock_type(before) ~= "function" then
    expected(2, "sort", "function", before)
  end
  if raw_sort and before == nil and is_plain(list) and raw_sort(list, count) then
    return
  end
  local items = {}
  for place = 1, count do
    items[place] = list[place]
  end
  items = merge_sort(items, count, before or less)
  for place = 1, count do
    list[place] = items[place]
  end
end
