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
      LIMIT 3]],
    params = {"cancelled"},
  }, "the products could not be read")
  local content = csv.encode(rows, {columns = {"sku", "units"}})
  must(send_email{
    to = "sales@example.com",
    subject = "Top three",
    body = "The three products sold in the largest numbers are in the attached file.",
    attachments = {{name = "top.csv", content = content, content_type = "text/csv"}},
  }, "the mail was not sent")
  context.answer = list.pluck(rows, "sku")
  return context
end
