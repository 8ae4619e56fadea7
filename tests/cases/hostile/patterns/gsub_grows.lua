-- Each replacement is larger than the subject.
-- expect: limit_memory|limit_instructions
function run()
  local s = string.rep("a", 5000)
  return #string.gsub(s, "a", s)
end
