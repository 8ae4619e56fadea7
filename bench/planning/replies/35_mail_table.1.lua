function run(context)
  local rows = must(query_db{
    database = "shop",
    table = "products",
    where = "active AND stock < reorder_at",
    columns = {"sku", "name", "stock"},
    order_by = "sku",
  }, "the products could not be read")
  local body = must(transform_data{
    input = rows,
    template = "<table><tr><th>SKU</th><th>Name</th><th>Stock</th></tr>{% for r in rows %}<tr><td>{{ r.sku }}</td><td>{{ r.name }}</td><td>{{ r.stock }}</td></tr>{% endfor %}</table>",
    format = "html",
  }, "the table could not be written")
  must(send_email{to = "buyer@example.com", subject = "Order again", body = body, html = true}, "the mail was not sent")
  context.answer = #rows
  return context
end
