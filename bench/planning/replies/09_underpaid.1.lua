function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT o.id
      FROM orders o
      JOIN (SELECT order_id, sum(amount_cents) AS cents FROM payments GROUP BY order_id) p ON p.order_id = o.id
      LEFT JOIN (SELECT order_id, round(sum(quantity * unit_price * (1 - discount_percent / 100)), 2) AS value
        FROM order_items GROUP BY order_id) l ON l.order_id = o.id
      WHERE p.cents < (coalesce(l.value, 0) + o.shipping) * 100
      ORDER BY o.id]],
  }, "the orders could not be read")
  context.answer = list.pluck(rows, "id")
  return context
end
