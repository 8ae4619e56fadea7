-- A comparator whose answers follow no order at all.
-- expect: result: "ended"
-- expect: plan_error invalid order function
-- expect on piccolo: limit_instructions
-- expect on piccolo: result: "ended"
function run()
  local t, n = {}, 7
  for i = 1, 2000 do t[i] = i end
  table.sort(t, function() n = (n * 1103515245 + 12345) & 0x7fffffff return n & 4 == 0 end)
  return "ended"
end
