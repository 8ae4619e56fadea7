function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
  }, "the customers could not be read")
  context.answer = list.sort(list.pluck(rows, "name"))
  return context
end
