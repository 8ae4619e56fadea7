-- The limit comes inside a callback of the plan library.
-- expect: limit_instructions
function run()
  pcall(list.map, { 1, 2, 3 }, function() while true do end end)
  return "ok"
end
