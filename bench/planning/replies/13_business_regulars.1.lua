function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT c.name, count(*) AS orders
      FROM customers c JOIN orders o ON o.customer_id = c.id
      WHERE c.segment = ? AND o.status <> ?
      GROUP BY c.id, c.name
      HAVING count(*) >= 5]],
    params = {"business", "cancelled"},
  }, "the customers could not be read")
  local regulars = list.map(rows, function(row) return {name = row.name, orders = row.orders} end)
  context.answer = list.sort_by(regulars, "name")
  return context
end
