function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT p.sku FROM products p WHERE NOT EXISTS (SELECT 1 FROM order_items i WHERE i.product_id = p.id)",
  }, "the products could not be read")
  context.answer = list.sort(list.pluck(rows, "sku"))
  return context
end
