function run(context)
  local body = must(fetch_url("{web}/targets.csv"), "the targets could not be fetched")
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT c.country, round(sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)), 2) AS revenue
      FROM order_items i
      JOIN orders o ON o.id = i.order_id
      JOIN customers c ON c.id = o.customer_id
      WHERE o.status <> ?
      GROUP BY c.country]],
    params = {"cancelled"},
  }, "the revenue could not be read")
  local revenue = {}
  for _, row in ipairs(rows) do
    revenue[row.country] = row.revenue
  end

  local answer = list.empty()
  for _, row in ipairs(csv.parse(body)) do
    local country = row.country and text.trim(row.country)
    local target = tonumber(row.target or row.revenue or row.target_revenue or row.amount)
    if not country or not target then
      error("targets.csv has other columns than country and target: " .. text.truncate(body, 200))
    end
    local missing = math.round(target - (revenue[country] or 0), 2)
    if missing > 0 then
      table.insert(answer, {country = country, missing = missing})
    end
  end
  context.answer = list.sort_by(answer, "country")
  return context
end
