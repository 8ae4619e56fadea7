function run(context)
  local groups, order = {}, {}
  for _, row in ipairs(context.rows or {}) do
    local key = row.city or "unknown"
    if not groups[key] then
      groups[key] = {}
      order[#order + 1] = key
    end
    groups[key][#groups[key] + 1] = row
  end
  table.sort(order, function(a, b) return #groups[a] > #groups[b] or (#groups[a] == #groups[b] and a < b) end)
  for key, rows in next, groups do print(key, #rows) end
  context.order = order
  return context
end
