-- A pattern so long that a recursive matcher would use up its stack.
-- expect: plan_error too complex
-- expect: limit_instructions
-- expect: result: [1,200000]
function run()
  local a, b = string.find(string.rep("a", 200000), string.rep("a?", 200000))
  return { a, b }
end
