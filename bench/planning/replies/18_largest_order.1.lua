function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT o.id, round(sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)), 2) AS value
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status <> ?
      GROUP BY o.id
      ORDER BY sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)) DESC, o.id
      LIMIT 1]],
    params = {"cancelled"},
  }, "the orders could not be read")
  if #rows == 0 then
    error("there are no orders")
  end
  context.answer = {id = rows[1].id, value = rows[1].value}
  return context
end
