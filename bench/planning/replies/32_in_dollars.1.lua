function run(context)
  local body = must(fetch_url("{web}/rates.json"), "the rates could not be fetched")
  local data = json.decode(body)
  local rate = tonumber((data.rates or data).USD)
  if not rate then
    error("rates.json has no rate of USD: " .. text.truncate(body, 400))
  end
  local rows = must(query_db{
    database = "shop",
    sql = [[SELECT coalesce(sum(p.amount_cents), 0) AS cents
      FROM payments p
      JOIN orders o ON o.id = p.order_id
      JOIN customers c ON c.id = o.customer_id
      WHERE c.country = ?]],
    params = {"PL"},
  }, "the payments could not be read")
  context.answer = math.round(rows[1].cents * rate / 100, 2)
  return context
end
