function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT p.sku, sum(i.quantity) AS units
      FROM order_items i
      JOIN orders o ON o.id = i.order_id
      JOIN products p ON p.id = i.product_id
      WHERE o.status <> ?
      GROUP BY p.id, p.sku
      ORDER BY units DESC, p.sku
      LIMIT 5]],
    params = {"cancelled"},
  }, "the products could not be read")
  context.answer = list.map(rows, function(row) return {sku = row.sku, units = row.units} end)
  return context
end
