function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT to_char(o.placed_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
        round(sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)), 2) AS revenue
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status <> ? AND o.placed_at >= CAST(? AS timestamptz) AND o.placed_at < CAST(? AS timestamptz)
      GROUP BY 1
      ORDER BY 1]],
    params = {"cancelled", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
  }, "the revenue could not be read")
  context.answer = list.map(rows, function(row) return {month = row.month, revenue = row.revenue} end)
  return context
end
