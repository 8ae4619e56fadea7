-- The limit comes inside a comparator.
-- expect: limit_instructions
function run()
  pcall(table.sort, { 3, 2, 1 }, function() while true do end end)
  return "ok"
end
