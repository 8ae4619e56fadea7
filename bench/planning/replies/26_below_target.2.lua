local function amount_of(value)
  local s = (value:gsub("%s", ""))
  if s:find(",%d%d?$") then
    s = s:gsub("%.", ""):gsub(",", ".")
  else
    s = s:gsub(",(%d%d%d)%f[%D]", "%1")
  end
  return tonumber(s) or error("no number as a target in targets.csv: " .. value)
end

local function columns_of(header)
  local country, others = nil, list.empty()
  for i, name in ipairs(header) do
    local plain = text.lower(text.trim(name))
    if plain == "country" then
      country = i
    else
      table.insert(others, {index = i, name = plain})
    end
  end
  local target = #others == 1 and others[1]
    or list.find(others, function(c) return text.contains(c.name, "target") end)
    or list.find(others, function(c) return text.contains(c.name, "revenue") end)
  if not country or not target then
    error("targets.csv has no columns of country and target: " .. text.join(header, ", "))
  end
  return country, target.index
end

function run(context)
  local body = must(fetch_url("{web}/targets.csv"), "the targets could not be fetched")
  local lines = csv.parse(body, {header = false})
  if #lines == 0 then
    error("targets.csv is empty")
  end
  local country_at, target_at = columns_of(lines[1])

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
  for _, line in ipairs(list.drop(lines, 1)) do
    local country, target = line[country_at], line[target_at]
    if not text.is_blank(country) and not text.is_blank(target) then
      country = text.trim(country)
      local missing = math.round(amount_of(target) - (revenue[country] or 0), 2)
      if missing > 0 then
        table.insert(answer, {country = country, missing = missing})
      end
    end
  end
  context.answer = list.sort_by(answer, "country")
  return context
end
