-- Keys that change while they are sorted by, items of mixed kinds.
-- expect: result: "ended"
-- expect: plan_error
function run()
  local n = 0
  list.sort_by({ 3, 1, 2, 5, 4 }, function(x) n = n + 1 return n % 3 end)
  pcall(list.sort, { 1, "a", {}, 0 / 0 })
  pcall(list.sort_by, { 1, 2 }, function() return {} end)
  return "ended"
end
