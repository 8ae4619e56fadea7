function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT count(DISTINCT o.id) AS n
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN payments p ON p.order_id = o.id
      WHERE c.country <> ? AND p.method = ?]],
    params = {"DE", "voucher"},
  }, "the orders could not be read")
  context.answer = rows[1].n
  return context
end
