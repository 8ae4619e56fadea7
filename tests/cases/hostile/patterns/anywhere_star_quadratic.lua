-- An unanchored pattern over a long subject: quadratic at each start.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 400000)
  return string.find(s, ".-b")
end
