function run(context)
  local rows = query_db{ table = "orders", where = "total > 100", columns = {"id", "total"}, limit = 50 }
  if rows.error then
    context.failure = rows.error
    context.may_retry = rows.retryable
    return context
  end
  context.count = #rows
  return context
end
