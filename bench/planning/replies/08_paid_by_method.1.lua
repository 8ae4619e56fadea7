function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT method, sum(amount_cents) AS cents FROM payments GROUP BY method ORDER BY method",
  }, "the payments could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[row.method] = math.round(row.cents / 100, 2)
  end
  context.answer = answer
  return context
end
