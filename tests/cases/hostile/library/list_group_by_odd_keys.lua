-- Groups under NaN, nil, tables.
-- expect: result: "ended"
function run()
  for _, k in ipairs({ 0 / 0, {}, true, 1.5, "" }) do pcall(list.group_by, { 1, 2, 3 }, function() return k end) pcall(list.count_by, { 1 }, function() return k end) pcall(list.index_by, { 1 }, function() return k end) end
  pcall(list.group_by, { 1, 2 }, function() return nil end)
  return "ended"
end
