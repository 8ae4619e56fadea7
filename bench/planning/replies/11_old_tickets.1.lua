function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT priority, count(*) AS n FROM tickets
      WHERE closed_on IS NULL AND opened_on < CAST(? AS date)
      GROUP BY priority ORDER BY priority]],
    params = {date.add("2026-09-01", -90, "days")},
  }, "the tickets could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[tostring(row.priority)] = row.n
  end
  context.answer = answer
  return context
end
