-- error: tool_error_ignored call 2 (fail, line 4) failed: disk full
function run(context)
  echo(1)
  fail("disk full")
  context.ok = true
  return context
end
