-- An argument of megabytes, again and again.
-- expect: limit_tool_calls|limit_memory|limit_instructions
function run()
  local s = string.rep("x", 3000000)
  while true do echo(s) end
end
