function run(context)
  local body = must(fetch_url("{web}/sales.csv"), "the sales could not be fetched")
  local sums = json.object()
  for _, row in ipairs(csv.parse(body)) do
    if not row.region or not row.amount then
      error("sales.csv lacks region or amount: " .. text.truncate(body, 200))
    end
    if not text.is_blank(row.amount) then
      local amount = tonumber(row.amount) or error("no number in sales.csv: " .. row.amount)
      local region = text.trim(row.region)
      sums[region] = (sums[region] or 0) + amount
    end
  end
  for _, region in ipairs(list.keys(sums)) do
    sums[region] = math.round(sums[region], 2)
  end
  context.answer = sums
  return context
end
