--- reorder_list
function run(context)
  local rows = query_db{sql = "SELECT sku, name, stock, reorder_at FROM products WHERE active AND stock < reorder_at ORDER BY sku"}
  if rows.error then error(rows.error) end
  local answer = list.empty()
  for _, row in ipairs(rows) do
    table.insert(answer, {sku = row.sku, missing = row.reorder_at - row.stock})
  end
  context.answer = answer
  return context
end
--- stock_value
function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT g.name AS category, sum(p.stock * p.price) AS value FROM products p JOIN categories g ON p.category_id = g.id GROUP BY g.name",
    exact = true,
  }, "the value of the stock")
  local total = stats.sum(rows, "value")
  for _, row in ipairs(rows) do
    print(row.category, row.value)
  end
  context.total = math.round(total, 2)
  return context
end
--- inactive_with_stock
function run(context)
  local rows = query_db{table = "products", where = "NOT active AND stock > ?", params = {0}, columns = {"sku", "stock"}, order_by = "sku"}
  if rows.error then
    error("inactive products: " .. rows.error)
  end
  context.skus = list.pluck(rows, "sku")
  context.units = list.sum_by(rows, "stock")
  return context
end
--- never_sold
function run(context)
  local rows = query_db{sql = [[
    SELECT p.sku FROM products AS p
    WHERE NOT EXISTS (SELECT 1 FROM order_items AS i WHERE i.product_id = p.id)
    ORDER BY p.sku]]}
  if rows.error then error(rows.error) end
  context.answer = list.map(rows, "sku")
  return context
end
--- days_of_stock
-- context: {"days": 90, "today": "2026-08-31"}
function run(context)
  local rows = must(query_db{
    sql = [[
      SELECT p.sku, p.stock, coalesce(sum(i.quantity), 0) AS sold
      FROM products p
      LEFT JOIN order_items i ON i.product_id = p.id
      LEFT JOIN orders o ON o.id = i.order_id AND o.placed_at >= $1::date
      WHERE p.active
      GROUP BY p.id
      ORDER BY p.sku]],
    params = {date.add(context.today, -context.days)},
  }, "sales and stock")
  local short = {}
  for _, row in ipairs(rows) do
    local per_day = row.sold / context.days
    if per_day > 0 and row.stock / per_day < 14 then
      short[#short + 1] = row.sku
    end
  end
  context.short = short
  return context
end
--- price_bands
function run(context)
  local rows = query_db{sql = "SELECT width_bucket(price, 0, 100, 4) AS band, count(*) AS n, min(price) AS from_price FROM products GROUP BY band ORDER BY band"}
  if rows.error then error(rows.error) end
  local bands = {}
  for _, row in ipairs(rows) do
    local label = (row.band - 1) * 25 .. "-" .. row.band * 25
    bands[label] = row.n
  end
  context.bands = bands
  return context
end
--- products_of_category
-- context: {"category": "Tools"}
function run(context)
  local category = query_db{table = "categories", where = {name = context.category}, columns = {"id"}}
  if category.error then error(category.error) end
  if #category == 0 then
    return {products = {}, unknown = context.category}
  end
  local products = query_db{table = "products", where = {category_id = category[1].id, active = true}, order_by = "price DESC, sku"}
  if products.error then error(products.error) end
  return {products = list.map(products, function(p) return p.name .. " at " .. text.number(p.price, 2) end)}
end
--- cheapest_and_dearest
function run()
  local rows = query_db{sql = [[
    (SELECT 'cheapest' AS which, sku, price FROM products WHERE active ORDER BY price, sku LIMIT 1)
    UNION ALL
    (SELECT 'dearest', sku, price FROM products WHERE active ORDER BY price DESC, sku LIMIT 1)]]}
  if rows.error then
    return {failed = rows.error}
  end
  local result = {}
  for _, row in ipairs(rows) do
    result[row.which] = {sku = row.sku, price = row.price}
  end
  return result
end
--- price_above_mean_of_category
function run(context)
  local rows = must(query_db{sql = [[
    SELECT sku, price, mean FROM (
      SELECT sku, price, avg(price) OVER (PARTITION BY category_id) AS mean FROM products
    ) AS w
    WHERE price > mean * 1.5
    ORDER BY sku]]}, "prices")
  context.answer = list.map(rows, function(row)
    return row.sku .. ": " .. math.round(row.price / row.mean * 100) .. "%"
  end)
  return context
end
--- stock_by_category_table
function run(context)
  local rows = query_db{sql = "SELECT c.name, coalesce(sum(p.stock), 0)::int AS units FROM categories c LEFT JOIN products p ON p.category_id = c.id GROUP BY c.name ORDER BY c.name"}
  if rows.error then error(rows.error) end
  local width = 0
  for _, row in ipairs(rows) do
    width = math.max(width, text.len(row.name))
  end
  local lines = {}
  for _, row in ipairs(rows) do
    table.insert(lines, text.pad_right(row.name, width) .. " " .. text.pad_left(row.units, 5))
  end
  context.page = table.concat(lines, "\n")
  return context
end
--- out_of_stock
function run(context)
  local rows = query_db("products", {stock = 0, active = true}, nil, "sku,name")
  if rows.error then error("products: " .. rows.error) end
  if #rows == 0 then
    context.message = "everything is in stock"
    return context
  end
  context.message = #rows .. " products are sold out, " .. rows[1].sku .. " among them"
  return context
end
--- sku_numbers
function run(context)
  local rows = must(query_db{sql = "SELECT sku, substring(sku FROM 5)::int AS number FROM products WHERE sku LIKE 'SKU-%' ORDER BY number"}, "numbers")
  local gaps = {}
  for i = 2, #rows do
    local step = rows[i].number - rows[i - 1].number
    if step ~= 7 then
      table.insert(gaps, rows[i].sku)
    end
  end
  context.gaps = gaps
  return context
end
--- sold_and_returned
function run(context)
  local rows = query_db{sql = [[
    WITH sold AS (
      SELECT product_id, sum(quantity) AS units FROM order_items GROUP BY product_id
    ), back AS (
      SELECT i.product_id, sum(r.quantity) AS units
      FROM returns r JOIN order_items i ON i.order_id = r.order_id AND i.line = r.line
      GROUP BY i.product_id
    )
    SELECT p.sku, s.units AS sold, coalesce(b.units, 0) AS returned
    FROM products p JOIN sold s ON s.product_id = p.id LEFT JOIN back b ON b.product_id = p.id
    ORDER BY returned DESC, p.sku LIMIT 5]]}
  if rows.error then error(rows.error) end
  context.answer = list.map(rows, function(row)
    return {sku = row.sku, percent = math.round(100 * row.returned / row.sold, 1)}
  end)
  return context
end
--- set_prices_with_tax
-- context: {"tax_percent": 19}
function run(context)
  local rate = context.tax_percent
  local rows = query_db{
    sql = "SELECT sku, price, round(price * (1 + ?::numeric / 100), 2) AS with_tax FROM products WHERE active ORDER BY sku LIMIT 10",
    params = {rate},
  }
  if rows.error then error(rows.error) end
  local out = {}
  for _, row in ipairs(rows) do
    out[row.sku] = row.with_tax
  end
  context.prices = out
  return context
end
--- names_by_word
-- context: {"word": "Lamp"}
function run(context)
  local pattern = "%" .. context.word .. "%"
  local rows = query_db{table = "products", where = "name ILIKE ?", params = {pattern}, columns = {"name", "stock"}, order_by = "name"}
  if rows.error then error(rows.error) end
  local total = 0
  for _, row in ipairs(rows) do total = total + row.stock end
  context.found, context.units = #rows, total
  return context
end
--- stock_histogram
function run(context)
  local rows = query_db{table = "products", columns = {"stock"}}
  if rows.error then error(rows.error) end
  local bins = stats.histogram(list.pluck(rows, "stock"), 4)
  context.bins = list.map(bins, function(bin) return bin.count end)
  context.mean = math.round(stats.mean(rows, "stock") or 0, 1)
  return context
end
--- many_levels
function run()
  local rows = must(query_db{sql = "SELECT c.name, p.name AS parent FROM categories c LEFT JOIN categories p ON p.id = c.parent_id ORDER BY c.id"}, "categories")
  local tree = {}
  for _, row in ipairs(rows) do
    if row.parent then
      tree[row.parent] = tree[row.parent] or {}
      table.insert(tree[row.parent], row.name)
    end
  end
  return {tree = tree}
end
--- active_share
function run(context)
  local rows = query_db{sql = "SELECT bool_and(active) AS all_active, count(*) FILTER (WHERE active) AS active, count(*) AS total FROM products"}
  if rows.error then error(rows.error) end
  local row = rows[1]
  if not row then error("no row") end
  context.answer = row.all_active and "all" or row.active .. " of " .. row.total
  return context
end
--- stock_against_list
-- context: {"wanted": {"SKU-0007": 5, "SKU-0014": 99}}
function run(context)
  local rows = must(query_db{table = "products", where = {sku = list.keys(context.wanted)}, columns = {"sku", "stock"}}, "the stock")
  local stock = {}
  for _, row in ipairs(rows) do
    stock[row.sku] = row.stock
  end
  local missing = json.object()
  for sku, wanted in pairs(context.wanted) do
    local short = wanted - (stock[sku] or 0)
    if short > 0 then missing[sku] = short end
  end
  return {missing = missing, ok = next(missing) == nil}
end
--- expensive_first_letters
function run(context)
  local rows = query_db{sql = "SELECT left(name, 1) AS letter, max(price) AS highest FROM products GROUP BY left(name, 1) ORDER BY letter"}
  if rows.error then error(rows.error) end
  local answer = {}
  for _, row in ipairs(rows) do
    answer[row.letter] = row.highest
  end
  context.answer = answer
  return context
end
--- stock_ranges
function run(context)
  local bounds = {10, 20, 40}
  local queries = {}
  for _, bound in ipairs(bounds) do
    queries["below_" .. bound] = function()
      return query_db{sql = "SELECT count(*) AS n FROM products WHERE stock < $1", params = {bound}}
    end
  end
  local answers = parallel(queries)
  local counts = {}
  for name, rows in pairs(answers) do
    if rows.error then error(name .. ": " .. rows.error) end
    counts[name] = rows[1].n
  end
  context.counts = counts
  return context
end
--- top_stock_lateral
function run(context)
  local rows = must(query_db{sql = [[
    SELECT c.name AS category, best.sku, best.stock
    FROM categories c
    CROSS JOIN LATERAL (
      SELECT sku, stock FROM products p WHERE p.category_id = c.id ORDER BY stock DESC, sku LIMIT 1
    ) AS best
    ORDER BY category]]}, "largest stocks")
  context.answer = list.map(rows, function(row) return row.category .. ": " .. row.sku .. " (" .. row.stock .. ")" end)
  return context
end
--- prices_exact
function run(context)
  local rows = query_db{table = "products", columns = "sku,price", order_by = "sku", limit = 4, exact = true}
  if rows.error then error(rows.error) end
  local parts = {}
  for _, row in ipairs(rows) do
    parts[#parts + 1] = row.sku .. "=" .. row.price
  end
  context.answer = text.join(parts, "&")
  return context
end
--- values_as_table
function run(context)
  local rows = query_db{sql = [[
    SELECT v.label, count(p.id) AS n
    FROM (VALUES (0, 19, 'few'), (20, 39, 'some'), (40, 1000, 'many')) AS v(low, high, label)
    LEFT JOIN products p ON p.stock BETWEEN v.low AND v.high
    GROUP BY v.label, v.low
    ORDER BY v.low]]}
  if rows.error then error(rows.error) end
  for _, row in ipairs(rows) do
    context[row.label] = row.n
  end
  return context
end
