function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT round((percentile_disc(0.5) WITHIN GROUP (ORDER BY v.value)
        + percentile_disc(0.5) WITHIN GROUP (ORDER BY v.value DESC)) / 2, 2) AS median
      FROM (SELECT o.id, sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)) AS value
        FROM orders o JOIN order_items i ON i.order_id = o.id
        WHERE o.status IN (?, ?)
        GROUP BY o.id) v]],
    params = {"shipped", "delivered"},
  }, "the orders could not be read")
  context.answer = must(rows[1].median, "there are no shipped or delivered orders")
  return context
end
