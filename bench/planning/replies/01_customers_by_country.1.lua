function run(context)
  local rows = must(query_db{database = "shop", sql = "SELECT country, count(*) AS n FROM customers GROUP BY country ORDER BY country"}, "the customers could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[row.country] = row.n
  end
  context.answer = answer
  return context
end
