-- The limit of tool calls caught.
-- expect: limit_tool_calls
function run()
  pcall(function() while true do echo(1) end end)
  return "ok"
end
