-- An empty text to be replaced, in megabytes.
-- expect: limit_instructions|limit_memory|plan_error
function run()
  local s = string.rep("a", 1000000)
  while true do text.replace(s, "", "") end
end
