function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT round(coalesce(sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)), 0), 2) AS revenue
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status <> ? AND o.placed_at >= CAST(? AS timestamptz) AND o.placed_at < CAST(? AS timestamptz)]],
    params = {"cancelled", "2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z"},
  }, "the revenue could not be read")
  context.answer = rows[1].revenue
  return context
end
