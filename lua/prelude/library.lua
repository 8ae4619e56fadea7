-- Functions of the string and table libraries that could run for ever inside C, depend on a clock
-- (the pivot of `table.sort`), or show an address.

local host, core = ...
local charge, reserve = host.charge, host.reserve
local min, max = math.min, math.max

local stock_type, tostring, error, select = core.stock_type, tostring, error, select
local find, gsub, stock_format, stock_rep = string.find, string.gsub, string.format, string.rep
local pack, unpack, number_kind, tonumber = table.pack, table.unpack, math.type, tonumber
local stock_sort, stock_concat, stock_insert = table.sort, table.concat, table.insert
local stock_remove, stock_move, stock_getmetatable, rawlen = table.remove, table.move, core.getmetatable, rawlen

local TEXT_AS_IT_IS = { string = true, number = true, boolean = true, ["nil"] = true }

function string.format(...)
  local format = ...
  if stock_type(format) == "string" and find(format, "p", 1, true)
    and find((gsub(format, "%%%%", "")), "%%[^%a]*p") then
    error("bad argument #1 to 'format' ('%p' is not available in a plan)", 2)
  end
  local count = select("#", ...)
  for place = 2, count do
    if not TEXT_AS_IT_IS[stock_type((select(place, ...)))] then
      local values = pack(...)
      for each = place, count do
        if not TEXT_AS_IT_IS[stock_type(values[each])] then
          values[each] = tostring(values[each])
        end
      end
      return stock_format(unpack(values, 1, count))
    end
  end
  return stock_format(...)
end

function string.rep(text, count, separator)
  local times = tonumber(count)
  if (stock_type(text) == "string" or stock_type(text) == "number") and times and times > 1 then
    local piece = #tostring(text) + (separator and #tostring(separator) or 0)
    if piece == 0 then
      return ""
    end
    reserve(piece * (times + 0.0))
  end
  return stock_rep(text, count, separator)
end

-- Whether a table's length and items are what they seem.
local function is_plain(list)
  return stock_type(list) == "table" and core.getmetatable(list) == nil
    or stock_type(list) == "table" and core.is_shaped(list)
end

function table.insert(list, ...)
  local count = select("#", ...)
  if count == 1 and is_plain(list) then
    list[#list + 1] = (...)
    return
  elseif count == 2 and is_plain(list) then
    local place = tonumber((...))
    if place and place >= 1 then
      charge(max(0, (#list - place) // 4))
    end
    return stock_insert(list, ...)
  elseif count == 2 and stock_type(list) == "table" then
    local place, value = ...
    local length = #list
    if number_kind(place) ~= "integer" or place < 1 or place > length + 1 then
      error("bad argument #2 to 'insert' (position out of bounds)", 2)
    end
    for index = length, place, -1 do
      list[index + 1] = list[index]
    end
    list[place] = value
    return
  end
  return stock_insert(list, ...)
end

function table.remove(list, ...)
  local place = ...
  if place == nil or stock_type(list) ~= "table" then
    return stock_remove(list, ...)
  elseif is_plain(list) then
    charge(max(0, (#list - (tonumber(place) or 0)) // 4))
    return stock_remove(list, ...)
  end
  local length = #list
  if number_kind(place) ~= "integer" or (place ~= length and (place < 1 or place > length + 1)) then
    error("bad argument #2 to 'remove' (position out of bounds)", 2)
  end
  local removed = list[place]
  for index = place, length - 1 do
    list[index] = list[index + 1]
  end
  list[place < length and length or place] = nil
  return removed
end

function table.move(source, from, to, target, ...)
  local first, last = tonumber(from), tonumber(to)
  if first and last and last >= first then
    charge(last - first + 0.0)
  end
  return stock_move(source, from, to, target, ...)
end

function table.concat(list, ...)
  if stock_type(list) == "table" then
    charge(rawlen(list) // 4)
  end
  return stock_concat(list, ...)
end

local function less(left, right)
  return left < right
end

-- Whether equal items cannot be told apart, so that any sort gives the same.
local function is_uniform(items, count)
  local kind = number_kind(items[1]) or stock_type(items[1])
  if kind ~= "integer" and kind ~= "string" then
    return false
  end
  for place = 2, count do
    local item = items[place]
    if (number_kind(item) or stock_type(item)) ~= kind then
      return false
    end
  end
  return true
end

-- A stable merge sort: same result, same comparisons, every time; and it may pause.
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
  if before ~= nil and stock_type(before) ~= "function" then
    error("bad argument #2 to 'sort' (function expected)", 2)
  elseif stock_type(list) ~= "table" then
    error("bad argument #1 to 'sort' (table expected)", 2)
  end
  local count = #list
  if count < 2 then
    return
  end
  if not before and is_plain(list) and is_uniform(list, count) then
    charge(count)
    return stock_sort(list)
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
