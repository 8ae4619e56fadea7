-- result: {"page":{"error":"gone","code":"fetch_failed","retryable":false,"status":503}}
function run(context)
  local page = fail("gone")
  if page.error then
    context.page = page
  end
  return context
end
