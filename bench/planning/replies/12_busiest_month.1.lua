function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT to_char(placed_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS n
      FROM orders
      WHERE placed_at >= CAST(? AS timestamptz) AND placed_at < CAST(? AS timestamptz)
      GROUP BY 1
      ORDER BY n DESC, month
      LIMIT 1]],
    params = {"2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
  }, "the orders could not be read")
  if #rows == 0 then
    error("no orders were placed in 2026")
  end
  context.answer = rows[1].month
  return context
end
