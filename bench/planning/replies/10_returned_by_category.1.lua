function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT c.name, sum(r.quantity) AS units
      FROM returns r
      JOIN order_items i ON i.order_id = r.order_id AND i.line = r.line
      JOIN products p ON p.id = i.product_id
      JOIN categories c ON c.id = p.category_id
      GROUP BY c.name
      ORDER BY c.name]],
  }, "the returns could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[row.name] = row.units
  end
  context.answer = answer
  return context
end
