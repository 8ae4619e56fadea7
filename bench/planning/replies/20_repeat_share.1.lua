function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT count(*) AS customers, coalesce(sum(CASE WHEN n >= 4 THEN 1 ELSE 0 END), 0) AS regulars
      FROM (SELECT customer_id, count(*) AS n FROM orders WHERE status <> ? GROUP BY customer_id) c]],
    params = {"cancelled"},
  }, "the orders could not be read")
  local row = rows[1]
  if row.customers == 0 then
    error("no customer has an order that was not cancelled")
  end
  context.answer = math.round(100 * row.regulars / row.customers, 1)
  return context
end
