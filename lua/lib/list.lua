-- The library `list`: work on lists and tables, with the plan's own functions.
--
-- Written in Lua so that a function given to it may call a tool. Its environment is handed in: the
-- VM's own functions as they were before the plan ran, the checks and helpers of the host. Values
-- are read with plain indexing, never raw, so that the result of a failed call raises its own error.
local _ENV = ...

local list = {}

function list.map(items, fn)
  local count = need_list("list.map", 1, "list", items)
  if type(fn) ~= "function" then fn = picker("list.map", 2, fn) end
  local mapped, size = {}, 0
  for i = 1, count do
    local value = fn(items[i], i)
    if value == nil then value = null end
    size = size + 1
    mapped[size] = value
  end
  return as_list(mapped)
end

function list.each(items, fn)
  local count = need_list("list.each", 1, "list", items)
  need_function("list.each", 2, "fn", fn)
  for i = 1, count do fn(items[i], i) end
end

function list.filter(items, test)
  local count = need_list("list.filter", 1, "list", items)
  test = tester("list.filter", 2, test)
  local kept, size = {}, 0
  for i = 1, count do
    local item = items[i]
    if test(item, i) then
      size = size + 1
      kept[size] = item
    end
  end
  return as_list(kept)
end

function list.partition(items, test)
  local count = need_list("list.partition", 1, "list", items)
  test = tester("list.partition", 2, test)
  local kept, others = {}, {}
  for i = 1, count do
    local item = items[i]
    local side = test(item, i) and kept or others
    side[#side + 1] = item
  end
  return as_list(kept), as_list(others)
end

function list.reduce(items, fn, initial)
  local count = need_list("list.reduce", 1, "list", items)
  need_function("list.reduce", 2, "fn", fn)
  local first, result = 1, initial
  if initial == nil then
    first, result = 2, items[1]
  end
  for i = first, count do result = fn(result, items[i], i) end
  return result
end

function list.find(items, test)
  local count = need_list("list.find", 1, "list", items)
  test = tester("list.find", 2, test)
  for i = 1, count do
    local item = items[i]
    if test(item, i) then return item, i end
  end
  return nil
end

function list.index_of(items, value)
  local count = need_list("list.index_of", 1, "list", items)
  for i = 1, count do
    if items[i] == value then return i end
  end
  return nil
end

function list.contains(items, value)
  local count = need_list("list.contains", 1, "list", items)
  for i = 1, count do
    if items[i] == value then return true end
  end
  return false
end

function list.any(items, test)
  local count = need_list("list.any", 1, "list", items)
  test = tester("list.any", 2, test)
  for i = 1, count do
    if test(items[i], i) then return true end
  end
  return false
end

function list.all(items, test)
  local count = need_list("list.all", 1, "list", items)
  test = tester("list.all", 2, test)
  for i = 1, count do
    if not test(items[i], i) then return false end
  end
  return true
end

function list.count(items, test)
  local count = need_list("list.count", 1, "list", items)
  if test == nil then return count end
  test = tester("list.count", 2, test)
  local found = 0
  for i = 1, count do
    if test(items[i], i) then found = found + 1 end
  end
  return found
end

return list
