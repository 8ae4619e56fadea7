function run(context)
  local page = 0
  repeat
    page = page + 1
    local rows = query_db{ table = "events", limit = 100, where = "page = " .. page }
    local done = rows.error ~= nil or #rows < 100
  until done or page >= 10
  context.pages = page
  return context
end
