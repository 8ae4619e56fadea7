function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT count(*) AS n FROM orders WHERE placed_at >= CAST(? AS timestamptz) AND placed_at < CAST(? AS timestamptz)",
    params = {"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
  }, "the orders could not be read")
  local n = rows[1].n
  must(send_email{to = "ops@example.com", subject = "Orders in March", body = "Orders placed in March 2026 (UTC): " .. n}, "the mail was not sent")
  context.answer = n
  return context
end
