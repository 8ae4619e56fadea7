-- Steps of zero, steps that pass the ends of the integers.
-- expect: result: "ended"
-- expect: limit_memory|limit_instructions
function run()
  pcall(list.range, 1, 10, 0)
  pcall(list.range, math.maxinteger - 1, math.maxinteger, 3)
  pcall(list.range, math.mininteger + 1, math.mininteger, -3)
  pcall(list.range, 1, 10, 0.1)
  pcall(list.range, 0 / 0, 1, 1)
  return "ended"
end
