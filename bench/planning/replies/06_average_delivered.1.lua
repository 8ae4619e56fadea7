function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT round(avg(v.value), 2) AS average
      FROM (SELECT o.id, sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)) AS value
        FROM orders o JOIN order_items i ON i.order_id = o.id
        WHERE o.status = ?
        GROUP BY o.id) v]],
    params = {"delivered"},
  }, "the orders could not be read")
  context.answer = must(rows[1].average, "there are no delivered orders")
  return context
end
