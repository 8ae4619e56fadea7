function run(context)
  local body = must(fetch_url("{web}/prijzen.csv"), "the prices could not be fetched")
  local first = text.lines(body)[1] or ""
  local rows = csv.parse(body, {separator = text.contains(first, ";") and ";" or ","})
  if #rows == 0 then
    error("prijzen.csv has no rows")
  end

  local keys = list.keys(rows[1])
  local column = list.find(keys, function(key) return text.contains(text.lower(key), "prijs") or text.contains(text.lower(key), "price") end)
    or list.find(keys, function(key) return list.any(rows, function(row) return (row[key] or ""):find("^%s*[%d.]+,%d+%s*$") ~= nil end) end)
  if not column then
    error("prijzen.csv has no column of prices: " .. text.truncate(body, 200))
  end

  local above, total = 0, 0
  for _, row in ipairs(rows) do
    local value = row[column] or ""
    if not text.is_blank(value) then
      local digits = text.replace(text.replace((value:gsub("[^%d,.-]", "")), ".", ""), ",", ".")
      local price = tonumber(digits) or error("no price in prijzen.csv: " .. value)
      total = total + price
      if price > 50 then
        above = above + 1
      end
    end
  end
  context.answer = {above_50 = above, total = math.round(total, 2)}
  return context
end
