-- Two stars: cubic.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 20000)
  return string.find(s, ".*.*b")
end
