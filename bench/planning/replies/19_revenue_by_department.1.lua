function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[WITH RECURSIVE tree AS (
        SELECT id, name AS department FROM categories WHERE parent_id IS NULL
        UNION ALL
        SELECT c.id, t.department FROM categories c JOIN tree t ON c.parent_id = t.id
      ), sold AS (
        SELECT p.category_id, i.quantity * i.unit_price * (1 - i.discount_percent / 100) AS value
        FROM order_items i
        JOIN orders o ON o.id = i.order_id
        JOIN products p ON p.id = i.product_id
        WHERE o.status <> ?
      )
      SELECT t.department, round(coalesce(sum(s.value), 0), 2) AS revenue
      FROM tree t LEFT JOIN sold s ON s.category_id = t.id
      GROUP BY t.department
      ORDER BY t.department]],
    params = {"cancelled"},
  }, "the revenue could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[row.department] = row.revenue
  end
  context.answer = answer
  return context
end
