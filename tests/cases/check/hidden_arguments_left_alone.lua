function run(context)
  local key = "to"
  context.a = send_email{ [key] = "x" }
  context.b = send_email(context.mail)
  context.c = send_email(context:mail())
  context.d = fetch_url(context.urls, context.batch)
  context.e = query_db{ limit = context.limit, where = "a" .. 1, table = context.t or "x" }
  return context
end
