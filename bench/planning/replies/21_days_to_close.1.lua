function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT priority, round(avg(closed_on - opened_on), 1) AS days
      FROM tickets WHERE closed_on IS NOT NULL
      GROUP BY priority ORDER BY priority]],
  }, "the tickets could not be read")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[tostring(row.priority)] = row.days
  end
  context.answer = answer
  return context
end
