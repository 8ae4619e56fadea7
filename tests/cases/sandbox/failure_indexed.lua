-- error: tool_error_used line 4: call 1 (fail, line 3) failed: no such host; test `.error` before
function run()
  local rows = fail("no such host")
  return rows.name
end
