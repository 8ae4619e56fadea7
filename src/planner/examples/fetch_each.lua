function run(context)
  local pages = fetch_url(context.urls, true)
  if pages.error then
    error("nothing could be fetched: " .. pages.error)
  end

  local sizes, failed = {}, {}
  for _, url in ipairs(context.urls) do
    local page = pages[url]
    if type(page) == "string" then
      sizes[url] = #page
    else
      failed[#failed + 1] = {url = url, reason = page and page.error or "no answer"}
    end
  end
  return {sizes = sizes, failed = failed}
end
