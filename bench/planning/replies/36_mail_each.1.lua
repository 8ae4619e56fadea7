function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT DISTINCT ON (c.id) c.email, c.name, t.subject
      FROM tickets t JOIN customers c ON c.id = t.customer_id
      WHERE t.closed_on IS NULL AND t.priority = ?
      ORDER BY c.id, t.opened_on, t.id]],
    params = {1},
  }, "the tickets could not be read")

  local written, failed = list.empty(), list.empty()
  for _, row in ipairs(rows) do
    local receipt = send_email{
      to = row.email,
      subject = "Your ticket",
      body = "Hello " .. row.name .. ",\n\nyour oldest open urgent ticket: " .. row.subject .. "\n",
      html = false,
    }
    if receipt.error then
      table.insert(failed, {email = row.email, error = receipt.error})
    else
      table.insert(written, row.email)
    end
  end
  if #failed > 0 then
    context.failed = failed
  end
  context.answer = list.sort(written)
  return context
end
