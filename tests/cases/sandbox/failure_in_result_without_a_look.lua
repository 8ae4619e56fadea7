-- error: tool_error_ignored gone
function run(context)
  context.page = fail("gone")
  return context
end
