-- error: tool_error_used `echo.body` is the result of a failed call: call 1 (fail, line 3)
function run()
  local page = fail("gone")
  echo({ body = page })
end
