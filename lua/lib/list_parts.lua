-- The library `list`, continued: parts of lists, and lists put together. See list.lua.
local _ENV = ...

local list = {}

function list.empty()
  return as_list({})
end

function list.is_list(value)
  if type(value) ~= "table" then return false end
  local count = #value
  local members = 0
  for _ in next, value do
    members = members + 1
    if members > count then return false end
  end
  return members == count
end

function list.slice(items, from, to)
  local count = need_list("list.slice", 1, "list", items)
  from = need_integer("list.slice", 2, "from", from, 1)
  to = need_integer("list.slice", 3, "to", to, -1)
  if from < 0 then from = count + from + 1 end
  if to < 0 then to = count + to + 1 end
  if from < 1 then from = 1 end
  if to > count then to = count end
  local part, size = {}, 0
  for i = from, to do
    size = size + 1
    part[size] = items[i]
  end
  return as_list(part)
end

function list.take(items, n)
  need_list("list.take", 1, "list", items)
  n = need_integer("list.take", 2, "n", n)
  if n < 0 then fail("list.take: argument 2 (n) must be at least 0, got " .. n) end
  if n == 0 then return as_list({}) end
  return (list.slice(items, 1, n))
end

function list.drop(items, n)
  local count = need_list("list.drop", 1, "list", items)
  n = need_integer("list.drop", 2, "n", n)
  if n < 0 then fail("list.drop: argument 2 (n) must be at least 0, got " .. n) end
  if n >= count then return as_list({}) end
  return (list.slice(items, n + 1, count))
end

function list.chunk(items, n)
  local count = need_list("list.chunk", 1, "list", items)
  n = need_integer("list.chunk", 2, "n", n)
  if n < 1 then fail("list.chunk: argument 2 (n) must be at least 1, got " .. n) end
  local chunks, size = {}, 0
  for i = 1, count do
    local place = (i - 1) % n + 1
    if place == 1 then
      size = size + 1
      chunks[size] = {}
    end
    chunks[size][place] = items[i]
  end
  return as_list(chunks)
end

function list.reverse(items)
  local count = need_list("list.reverse", 1, "list", items)
  local reversed = {}
  for i = 1, count do reversed[i] = items[count - i + 1] end
  return as_list(reversed)
end

function list.concat(...)
  local lists = { ... }
  local joined, size = {}, 0
  for position = 1, select("#", ...) do
    local items = lists[position]
    for i = 1, need_list("list.concat", position, "list", items) do
      size = size + 1
      joined[size] = items[i]
    end
  end
  return as_list(joined)
end

function list.flatten(items, depth)
  local count = need_list("list.flatten", 1, "list", items)
  depth = need_integer("list.flatten", 2, "depth", depth, 1)
  local flat, size = {}, 0
  local function add(part, length, left)
    for i = 1, length do
      local item = part[i]
      if left > 0 and list.is_list(item) then
        add(item, #item, left - 1)
      else
        size = size + 1
        flat[size] = item
      end
    end
  end
  add(items, count, depth)
  return as_list(flat)
end

function list.zip(a, b)
  local count, other = need_list("list.zip", 1, "a", a), need_list("list.zip", 2, "b", b)
  if other < count then count = other end
  local pairs_of = {}
  for i = 1, count do pairs_of[i] = { a[i], b[i] } end
  return as_list(pairs_of)
end

function list.range(from, to, step)
  from = need_integer("list.range", 1, "from", from)
  if to == nil then
    from, to = 1, from
  end
  to = need_integer("list.range", 2, "to", to)
  step = need_integer("list.range", 3, "step", step, 1)
  if step == 0 then fail("list.range: argument 3 (step) must not be 0") end
  local numbers, size = {}, 0
  for number = from, to, step do
    size = size + 1
    numbers[size] = number
  end
  return as_list(numbers)
end

-- Tables of named values

function list.keys(value)
  need_table("list.keys", 1, "t", value)
  local keys, size = {}, 0
  for key in pairs(value) do
    size = size + 1
    keys[size] = key
  end
  local ordered = sorted_order(keys, size, false)
  for i = 1, size do ordered[i] = keys[ordered[i]] end
  return as_list(ordered)
end

function list.values(value)
  need_table("list.values", 1, "t", value)
  local keys = list.keys(value)
  for i = 1, #keys do keys[i] = value[keys[i]] end
  return keys
end

return list
