local function amount_of(value)
  local s = (value:gsub("%s", ""))
  if s:find(",%d%d?$") then
    s = s:gsub("%.", ""):gsub(",", ".")
  else
    s = s:gsub(",(%d%d%d)%f[%D]", "%1")
  end
  return tonumber(s) or error("no number in sales.csv: " .. value)
end

function run(context)
  local body = must(fetch_url("{web}/sales.csv"), "the sales could not be fetched")
  local sums = json.object()
  for _, row in ipairs(csv.parse(body)) do
    if not row.region or not row.amount then
      error("sales.csv lacks region or amount: " .. text.truncate(body, 200))
    end
    if not text.is_blank(row.amount) then
      local region = text.trim(row.region)
      sums[region] = (sums[region] or 0) + amount_of(row.amount)
    end
  end
  for _, region in ipairs(list.keys(sums)) do
    sums[region] = math.round(sums[region], 2)
  end
  context.answer = sums
  return context
end
