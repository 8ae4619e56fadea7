-- The library `list`, continued: sorting and grouping. See list.lua.
local _ENV = ...

local list = {}

function list.sort_by(items, key, direction)
  local count = need_list("list.sort_by", 1, "list", items)
  if direction ~= nil and direction ~= "asc" and direction ~= "desc" then
    fail('list.sort_by: argument 3 (direction) must be "asc" or "desc"')
  end
  local pick = picker("list.sort_by", 2, key)
  local keys = {}
  for i = 1, count do keys[i] = pick(items[i], i) end
  local sorted = sorted_order(keys, count, direction == "desc", "list.sort_by")
  for i = 1, count do sorted[i] = items[sorted[i]] end
  return as_list(sorted)
end

function list.sort(items, direction)
  local count = need_list("list.sort", 1, "list", items)
  if direction ~= nil and direction ~= "asc" and direction ~= "desc" then
    fail('list.sort: argument 2 (direction) must be "asc" or "desc"')
  end
  local sorted = sorted_order(items, count, direction == "desc", "list.sort")
  for i = 1, count do sorted[i] = items[sorted[i]] end
  return as_list(sorted)
end

function list.group_by(items, key, missing)
  local count = need_list("list.group_by", 1, "list", items)
  local pick = picker("list.group_by", 2, key)
  if missing == nil then missing = "" end
  local groups = {}
  for i = 1, count do
    local item = items[i]
    local name = pick(item, i)
    if not usable(name) then name = missing end
    local group = groups[name]
    if not group then
      group = {}
      groups[name] = group
    end
    group[#group + 1] = item
  end
  return as_object(groups)
end

function list.count_by(items, key, missing)
  local count = need_list("list.count_by", 1, "list", items)
  local pick = picker("list.count_by", 2, key)
  if missing == nil then missing = "" end
  local counts = {}
  for i = 1, count do
    local name = pick(items[i], i)
    if not usable(name) then name = missing end
    counts[name] = (counts[name] or 0) + 1
  end
  return as_object(counts)
end

function list.index_by(items, key)
  local count = need_list("list.index_by", 1, "list", items)
  local pick = picker("list.index_by", 2, key)
  local index = {}
  for i = 1, count do
    local item = items[i]
    local name = pick(item, i)
    if usable(name) then index[name] = item end
  end
  return as_object(index)
end

function list.unique(items, key)
  local count = need_list("list.unique", 1, "list", items)
  local pick = key ~= nil and picker("list.unique", 2, key) or nil
  local seen, kept, size, missing = {}, {}, 0, false
  for i = 1, count do
    local item = items[i]
    local name = item
    if pick then name = pick(item, i) end
    local known
    if name == nil then
      known, missing = missing, true
    elseif name == name then
      known = seen[name]
      seen[name] = true
    end
    if not known then
      size = size + 1
      kept[size] = item
    end
  end
  return as_list(kept)
end

function list.pluck(items, key)
  local count = need_list("list.pluck", 1, "list", items)
  local pick = picker("list.pluck", 2, key)
  local plucked, size = {}, 0
  for i = 1, count do
    local value = pick(items[i], i)
    if value ~= nil and value ~= null then
      size = size + 1
      plucked[size] = value
    end
  end
  return as_list(plucked)
end

function list.sum_by(items, key)
  local count = need_list("list.sum_by", 1, "list", items)
  local pick = picker("list.sum_by", 2, key)
  local values, size = {}, 0
  local first_kind, first_place
  for i = 1, count do
    local value = pick(items[i], i)
    if value ~= nil and value ~= null then
      local number = tonumber(value)
      if not number then
        fail("list.sum_by: item " .. i .. " is not a number but " .. kind(value))
      end
      first_kind, first_place = one_kind("list.sum_by", first_kind, first_place, value, i)
      size = size + 1
      values[size] = number
    end
  end
  return total(values, size)
end

return list
