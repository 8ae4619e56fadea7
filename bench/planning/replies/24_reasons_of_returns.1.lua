function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT r.reason, round(sum(r.quantity * i.unit_price * (1 - i.discount_percent / 100)), 2) AS cost
      FROM returns r JOIN order_items i ON i.order_id = r.order_id AND i.line = r.line
      GROUP BY r.reason ORDER BY r.reason]],
  }, "the returns could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[row.reason] = row.cost
  end
  context.answer = answer
  return context
end
