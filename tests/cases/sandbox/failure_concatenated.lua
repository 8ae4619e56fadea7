-- error: tool_error_used call 1 (fail, line 3) failed
function run()
  local body = fail("no")
  return "<p>" .. body .. "</p>"
end
