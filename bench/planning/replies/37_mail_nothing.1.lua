function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT count(*) AS n FROM orders WHERE placed_at >= CAST(? AS timestamptz) AND placed_at < CAST(? AS timestamptz)",
    params = {"2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"},
  }, "the orders could not be read")
  local n = rows[1].n
  if n == 0 then
    context.answer = "nothing to mail"
    return context
  end
  must(send_email{to = "ops@example.com", subject = "Orders in 2027", body = "Orders placed in 2027: " .. n}, "the mail was not sent")
  context.answer = "mailed"
  return context
end
