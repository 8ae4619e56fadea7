-- The comparator empties and grows the table it sorts.
-- expect: result: "ended"
-- expect: plan_error
-- expect: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 500 do t[i] = i end
  table.sort(t, function(a, b)
    for i = #t, 1, -1 do t[i] = nil end
    t[#t + 1], t[1000] = 1, 2
    return (a or 0) < (b or 0)
  end)
  return "ended"
end
