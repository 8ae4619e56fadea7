function run(context)
  local body = must(fetch_url("{web}/count.csv"), "the count could not be fetched")
  local first = text.lines(body)[1] or ""
  local rows = csv.parse(body, {separator = text.contains(first, ";") and ";" or ","})
  if #rows == 0 then
    error("count.csv has no rows")
  end
  local keys = list.keys(rows[1])
  local function column(words)
    return list.find(keys, function(key)
      return list.any(words, function(word) return text.contains(text.lower(key), word) end)
    end)
  end
  local sku_column, count_column = column{"sku"}, column{"count", "quantity", "qty", "stock", "units"}
  if not sku_column or not count_column then
    error("count.csv has no columns of SKU and count: " .. first)
  end

  local products = must(query_db{database = "shop", table = "products", columns = {"sku", "stock"}}, "the products could not be read")
  local by_sku = list.index_by(products, "sku")
  local answer = list.empty()
  for _, row in ipairs(rows) do
    local product = by_sku[text.trim(row[sku_column])]
    local counted = math.tointeger(tonumber(row[count_column])) or tonumber(row[count_column])
    if product and counted and counted ~= product.stock then
      table.insert(answer, {sku = product.sku, counted = counted, stock = product.stock})
    end
  end
  context.answer = list.sort_by(answer, "sku")
  return context
end
