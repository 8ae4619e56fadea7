-- Makes the calls its context asks for and hands back what came.
function run(context)
  local got = json.array()
  for _, call in ipairs(context.queries or {}) do
    local rows = query_db(call)
    table.insert(got, rows.error and { code = rows.code, error = rows.error, retryable = rows.retryable } or rows)
  end
  if context.retried then
    local rows = retry(3, query_db, { table = "t" })
    context.retried = rows.error and rows.code or rows
  end
  if context.urls then
    context.pages = {}
    for url, page in pairs(fetch_url(context.urls, true)) do
      context.pages[url] = type(page) == "string" and page or page.code .. " " .. (page.status or "?")
    end
  end
  if context.side_by_side then
    got = parallel {
      function() return query_db { table = "a" } end,
      function() return query_db { table = "b" } end,
    }
  end
  if context.mail then
    local sent = send_email(context.mail)
    context.mailed = sent.error or sent
  end
  if context.read then
    context.page = fetch_url(context.read)
  end
  print("made the calls")
  context.got = got
  return context
end
