-- An empty match at each position of a long subject.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("a", 200000)
  while true do string.gsub(s, "", "") end
end
