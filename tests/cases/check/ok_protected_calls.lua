function run(context)
  local ok, result = pcall(function()
    local page = fetch_url{ urls = "https://example.com/", detail = true }
    assert(not page.error, page.error)
    return page
  end)
  if not ok then
    local _, message = xpcall(error, tostring, result)
    context.message = message
  end
  context.ok = ok
  return context
end
