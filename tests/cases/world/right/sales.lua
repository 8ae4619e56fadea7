--- revenue_by_month
function run(context)
  local rows = query_db{sql = [[
    SELECT to_char(date_trunc('month', o.placed_at), 'YYYY-MM') AS month,
      round(sum(i.quantity * i.unit_price * (100 - i.discount_percent) / 100), 2) AS revenue
    FROM orders o JOIN order_items i ON i.order_id = o.id
    WHERE o.status <> 'cancelled'
    GROUP BY 1
    ORDER BY 1]]}
  if rows.error then
    error("the revenue could not be read: " .. rows.error)
  end
  local months = json.object()
  for _, row in ipairs(rows) do
    months[row.month] = row.revenue
  end
  context.answer = months
  return context
end
--- top_products_by_units
function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = "SELECT p.sku, p.name, sum(i.quantity) AS units FROM order_items i "
      .. "JOIN products p ON p.id = i.product_id "
      .. "JOIN orders o ON o.id = i.order_id "
      .. "WHERE o.status <> 'cancelled' "
      .. "GROUP BY p.sku, p.name ORDER BY units DESC, p.sku LIMIT 5",
  }, "the products")
  local lines = {}
  for place, row in ipairs(rows) do
    lines[#lines + 1] = place .. ". " .. row.name .. " (" .. row.sku .. "): " .. row.units
  end
  return {lines = lines, best = rows[1] and rows[1].sku or "none"}
end
--- orders_of_month
-- context: {"month": "2026-03-01"}
function run(context)
  local from = date.start_of(context.month, "month")
  local to = date.add(from, 1, "month")
  local rows = query_db{
    sql = "SELECT count(*) AS n, count(DISTINCT customer_id) AS customers FROM orders WHERE placed_at >= $1 AND placed_at < $2",
    params = {from .. "T00:00:00Z", to .. "T00:00:00Z"},
  }
  if rows.error then error(rows.error) end
  context.orders = rows[1].n
  context.customers = rows[1].customers
  return context
end
--- revenue_by_country
local function read()
  return must(query_db{
    sql = [[
      SELECT c.country, count(DISTINCT o.id) AS orders,
        sum(i.quantity * i.unit_price) AS gross
      FROM customers c
      JOIN orders o ON o.customer_id = c.id
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status IN ('paid', 'shipped', 'delivered')
      GROUP BY c.country
      ORDER BY gross DESC]],
  }, "revenue by country")
end

function run(context)
  local answer = {}
  for _, row in ipairs(read()) do
    table.insert(answer, {country = row.country, orders = row.orders, gross = math.round(row.gross, 2)})
  end
  context.answer = answer
  return context
end
--- average_order_value
function run()
  local rows = query_db{sql = [[
    WITH totals AS (
      SELECT o.id, sum(i.quantity * i.unit_price * (1 - i.discount_percent / 100)) AS total
      FROM orders o
      JOIN order_items i ON i.order_id = o.id
      WHERE o.status = 'delivered'
      GROUP BY o.id
    )
    SELECT round(avg(total), 2) AS mean, round(min(total), 2) AS least, round(max(total), 2) AS most, count(*) AS n
    FROM totals]]}
  if rows.error then
    return {error_text = rows.error}
  end
  local row = rows[1]
  return {mean = row.mean, least = row.least, most = row.most, orders = row.n}
end
--- running_total
function run(context)
  local rows = query_db{
    database = "shop",
    sql = [[
      SELECT day, amount, sum(amount) OVER (ORDER BY day) AS so_far
      FROM (
        SELECT o.placed_at::date AS day, sum(i.quantity * i.unit_price) AS amount
        FROM orders o JOIN order_items i ON i.order_id = o.id
        WHERE o.status <> 'cancelled'
        GROUP BY o.placed_at::date
      ) AS days
      ORDER BY day
      LIMIT 30]],
  }
  if rows.error then error("no days: " .. rows.error) end
  local last = rows[#rows]
  context.days = #rows
  context.so_far = last and last.so_far or 0
  return context
end
--- best_product_of_category
function run(context)
  local rows = must(query_db{sql = [[
    SELECT category, sku, units FROM (
      SELECT g.name AS category, p.sku, sum(i.quantity) AS units,
        row_number() OVER (PARTITION BY g.name ORDER BY sum(i.quantity) DESC, p.sku) AS place
      FROM order_items i
      JOIN products p ON p.id = i.product_id
      JOIN categories g ON g.id = p.category_id
      GROUP BY g.name, p.sku
    ) ranked
    WHERE place = 1
    ORDER BY category]]}, "the best products")
  local best = {}
  for _, row in ipairs(rows) do
    best[row.category] = {sku = row.sku, units = row.units}
  end
  context.best = best
  return context
end
--- status_counts
function run(context)
  local rows = query_db("orders", nil, nil, {"status"})
  if rows.error then
    return {failed = rows.error}
  end
  context.by_status = list.count_by(rows, "status")
  context.total = #rows
  return context
end
--- cancelled_share
function run(context)
  local rows = query_db{sql = "SELECT count(*) FILTER (WHERE status = 'cancelled') AS cancelled, count(*) AS total FROM orders"}
  if rows.error then error(rows.error) end
  local counts = rows[1]
  local share = counts.total > 0 and math.round(counts.cancelled * 100 / counts.total, 1) or 0
  context.answer = share
  return context
end
--- busiest_weekday
function run(context)
  local names = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
  local rows = must(query_db{
    sql = "SELECT extract(isodow FROM placed_at)::int AS weekday, count(*) AS n FROM orders GROUP BY 1 ORDER BY n DESC, weekday",
  }, "the weekdays")
  local first = rows[1]
  if not first then
    return {weekday = "none"}
  end
  return {weekday = names[first.weekday], orders = first.n}
end
--- largest_orders
-- context: {"how_many": 3}
function run(context)
  local limit = context.how_many or 5
  local rows = query_db{
    sql = [[SELECT o.id, c.email, round(sum(i.quantity * i.unit_price) + o.shipping, 2) AS total
      FROM orders o
      JOIN customers c ON c.id = o.customer_id
      JOIN order_items i ON i.order_id = o.id
      GROUP BY o.id, c.email
      ORDER BY total DESC, o.id
      LIMIT ?]],
    params = {limit},
  }
  if rows.error then error("largest orders: " .. rows.error) end
  context.answer = list.map(rows, function(row)
    return {order = row.id, email = row.email, total = text.number(row.total, 2)}
  end)
  return context
end
--- discounts_given
function run(context)
  local rows = query_db{
    table = "order_items",
    where = "discount_percent > ?",
    params = {0},
    columns = {"order_id", "line", "quantity", "unit_price", "discount_percent"},
    order_by = "order_id, line",
  }
  if rows.error then
    error("the lines could not be read")
  end
  local cents = 0
  for _, row in ipairs(rows) do
    cents = cents + math.round(row.quantity * row.unit_price * row.discount_percent)
  end
  context.lines = #rows
  context.given = cents / 100
  return context
end
--- monthly_growth
function run(context)
  local rows = must(query_db{sql = [[
    WITH months AS (
      SELECT date_trunc('month', placed_at)::date AS month, count(*) AS orders
      FROM orders WHERE status <> 'cancelled' GROUP BY 1
    )
    SELECT month, orders, orders - lag(orders) OVER (ORDER BY month) AS more
    FROM months ORDER BY month]]}, "orders by month")
  local grown = {}
  for _, row in ipairs(rows) do
    if row.more and row.more > 0 then
      grown[#grown + 1] = string.sub(row.month, 1, 7)
    end
  end
  context.grown = grown
  return context
end
--- lines_per_order
function run()
  local rows = query_db{sql = "SELECT lines, count(*) AS orders FROM (SELECT order_id, count(*) AS lines FROM order_items GROUP BY order_id) x GROUP BY lines ORDER BY lines"}
  if rows.error then return {ok = false, why = rows.error} end
  local answer = list.map(rows, function(row) return row.lines .. " lines: " .. row.orders end)
  return {ok = true, answer = answer}
end
--- shipping_income
function run(context)
  local year = 2026
  local rows = query_db{
    sql = "SELECT sum(shipping) AS shipping, avg(shipping) AS mean FROM orders WHERE extract(year FROM placed_at) = $1 AND status = $2",
    params = {year, "delivered"},
    exact = true,
  }
  if rows.error then error(rows.error) end
  context.shipping = tonumber(rows[1].shipping) or 0
  context.mean = math.round(rows[1].mean or 0, 2)
  return context
end
--- revenue_by_segment
function run(context)
  local sql = "SELECT c.segment, sum(i.quantity * i.unit_price) AS revenue"
    .. " FROM customers AS c"
    .. " INNER JOIN orders AS o ON o.customer_id = c.id"
    .. " INNER JOIN order_items AS i ON i.order_id = o.id"
    .. " WHERE o.status = ANY (ARRAY['paid', 'delivered']::order_status[])"
    .. " GROUP BY c.segment"
  local rows = query_db{sql = sql, database = "shop"}
  if rows.error then
    error("segments: " .. rows.error)
  end
  local answer = {private = 0, business = 0}
  for _, row in ipairs(rows) do
    answer[row.segment] = math.round(row.revenue, 2)
  end
  return answer
end
--- days_without_orders
function run(context)
  local rows = must(query_db{sql = [[
    SELECT d::date AS day
    FROM generate_series(date '2026-02-01', date '2026-02-28', interval '1 day') AS d
    WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.placed_at::date = d::date)
    ORDER BY d]]}, "the days")
  context.days = list.pluck(rows, "day")
  return context
end
--- category_tree_revenue
function run(context)
  local rows = query_db{sql = [[
    WITH RECURSIVE tree AS (
      SELECT id, id AS root FROM categories WHERE parent_id IS NULL
      UNION ALL
      SELECT c.id, t.root FROM categories c JOIN tree t ON c.parent_id = t.id
    )
    SELECT r.name, coalesce(sum(i.quantity * i.unit_price), 0) AS revenue
    FROM tree t
    JOIN categories r ON r.id = t.root
    LEFT JOIN products p ON p.category_id = t.id
    LEFT JOIN order_items i ON i.product_id = p.id
    GROUP BY r.name ORDER BY r.name]]}
  if rows.error then error(rows.error) end
  local parts = {}
  for _, row in ipairs(rows) do
    table.insert(parts, row.name .. "=" .. string.format("%.2f", row.revenue))
  end
  context.answer = table.concat(parts, ";")
  return context
end
--- median_line
function run(context)
  local rows = query_db{sql = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY quantity * unit_price) AS median FROM order_items"}
  local median = rows.error and 0 or rows[1].median
  context.median = math.round(median, 2)
  return context
end
--- first_order_of_each
function run(context)
  local rows = must(query_db{sql = [[
    SELECT DISTINCT ON (customer_id) customer_id, id AS order_id, placed_at
    FROM orders ORDER BY customer_id, placed_at]]}, "first orders")
  local first = {}
  for _, row in ipairs(rows) do
    local month = date.format(row.placed_at, "%Y-%m")
    first[month] = (first[month] or 0) + 1
  end
  context.first_orders = first
  return context
end
--- products_in_one_order
-- context: {"order": 44}
function run(context)
  local order = math.tointeger(context.order)
  if not order then
    return {error_text = "order must be a whole number"}
  end
  local rows = query_db{
    sql = "SELECT i.line, p.name, i.quantity FROM order_items i JOIN products p ON p.id = i.product_id WHERE i.order_id = :order ORDER BY i.line",
    params = {order = order},
  }
  if rows.error then error(rows.error) end
  local names = {}
  for _, row in ipairs(rows) do
    names[row.line] = row.quantity .. " x " .. row.name
  end
  return {order = order, names = names}
end
--- revenue_quarters
function run(context)
  local by_quarter = {}
  local rows = must(query_db{
    sql = "SELECT placed_at, shipping FROM orders WHERE status = 'delivered' ORDER BY placed_at",
  }, "the orders")
  for _, row in ipairs(rows) do
    local quarter = "Q" .. date.parts(row.placed_at).quarter
    by_quarter[quarter] = (by_quarter[quarter] or 0) + math.round(row.shipping * 100)
  end
  for quarter, cents in pairs(by_quarter) do
    by_quarter[quarter] = cents / 100
  end
  context.shipping = by_quarter
  return context
end
--- bought_together
function run(context)
  local pairs_of = query_db{
    sql = [[
      SELECT a.product_id AS one, b.product_id AS other, count(*) AS times
      FROM order_items a
      JOIN order_items b ON b.order_id = a.order_id AND b.product_id > a.product_id
      GROUP BY a.product_id, b.product_id
      HAVING count(*) >= 2
      ORDER BY times DESC, one, other
      LIMIT 10]],
  }
  if pairs_of.error then
    error("the pairs could not be counted: " .. pairs_of.error)
  end
  local out = {}
  for i = 1, #pairs_of do
    out[i] = string.format("%d and %d: %d", pairs_of[i].one, pairs_of[i].other, pairs_of[i].times)
  end
  context.answer = out
  return context
end
--- order_summary_json
function run(context)
  local rows = query_db{sql = [[
    SELECT o.id, jsonb_agg(jsonb_build_object('line', i.line, 'quantity', i.quantity) ORDER BY i.line) AS lines
    FROM orders o JOIN order_items i ON i.order_id = o.id
    WHERE o.status = 'new'
    GROUP BY o.id ORDER BY o.id LIMIT 5]]}
  if rows.error then error(rows.error) end
  local total = 0
  for _, row in ipairs(rows) do
    for _, line in ipairs(row.lines) do
      total = total + line.quantity
    end
  end
  context.orders, context.units = #rows, total
  return context
end
--- weekly_orders
-- context: {"from": "2026-03-02", "to": "2026-03-29"}
function run(context)
  local rows = must(query_db{
    sql = "SELECT date_trunc('week', placed_at)::date AS week, count(*) AS n FROM orders "
      .. "WHERE placed_at::date BETWEEN $1::date AND $2::date GROUP BY week ORDER BY week",
    params = {context.from, context.to},
  }, "orders by week")
  local by_week = list.index_by(rows, "week")
  local answer = {}
  for _, monday in ipairs(date.range(context.from, context.to, "week")) do
    table.insert(answer, {week = monday, orders = by_week[monday] and by_week[monday].n or 0})
  end
  context.answer = answer
  return context
end
--- share_of_revenue
function run(context)
  local rows = must(query_db{sql = [[
    SELECT p.sku, round(100 * sum(i.quantity * i.unit_price) / sum(sum(i.quantity * i.unit_price)) OVER (), 1) AS percent
    FROM order_items i JOIN products p ON p.id = i.product_id
    GROUP BY p.sku
    ORDER BY percent DESC, p.sku]]}, "shares")
  local sum = stats.sum(rows, "percent")
  local big = list.filter(rows, function(row) return row.percent >= 5 end)
  return {big = list.pluck(big, "sku"), sum = math.round(sum)}
end
--- status_table
function run(context)
  local rows = query_db{sql = "SELECT status::text AS status, count(*) AS orders, max(placed_at) AS latest FROM orders GROUP BY status ORDER BY status"}
  if rows.error then
    error(rows.error)
  end
  local page = transform_data{input = rows, format = "markdown"}
  if type(page) ~= "string" then
    error("no table")
  end
  context.page = page
  return context
end
--- price_changes
function run(context)
  local rows = query_db{sql = [[
    SELECT p.sku, p.price AS now, max(i.unit_price) AS highest, min(i.unit_price) AS lowest
    FROM products p LEFT JOIN order_items i ON i.product_id = p.id
    GROUP BY p.id
    ORDER BY p.sku]]}
  if rows.error then error(rows.error) end
  local changed = list.empty()
  for _, row in ipairs(rows) do
    if row.highest and (row.highest ~= row.now or row.lowest ~= row.now) then
      table.insert(changed, row.sku)
    end
  end
  context.changed = changed
  return context
end
--- hours_of_day
function run(context)
  local rows = must(query_db{sql = "SELECT date_part('hour', placed_at AT TIME ZONE 'UTC') AS hour, count(*) AS n FROM orders GROUP BY hour ORDER BY hour"}, "hours")
  local morning, rest = 0, 0
  for _, row in ipairs(rows) do
    if row.hour < 12 then
      morning = morning + row.n
    else
      rest = rest + row.n
    end
  end
  context.morning = morning
  context.rest = rest
  return context
end
--- quoted_alias
function run(context)
  local rows = query_db{sql = 'SELECT p."sku" AS "Article", sum(i."quantity") AS "Units Sold" FROM "products" p JOIN "order_items" i ON i.product_id = p.id GROUP BY p."sku" ORDER BY "Units Sold" DESC, "Article" LIMIT 3'}
  if rows.error then error(rows.error) end
  local out = {}
  for _, row in ipairs(rows) do
    out[row.Article] = row["Units Sold"]
  end
  context.answer = out
  return context
end
--- compare_two_months
-- context: {"one": "2026-04", "other": "2026-05"}
local COUNT = "SELECT count(*) AS n FROM orders WHERE to_char(placed_at, 'YYYY-MM') = ?"

function run(context)
  local answers = parallel{
    one = function() return query_db{sql = COUNT, params = {context.one}} end,
    other = function() return query_db{sql = COUNT, params = {context.other}} end,
  }
  if answers.one.error or answers.other.error then
    error(answers.one.error or answers.other.error)
  end
  local difference = answers.other[1].n - answers.one[1].n
  context.word = difference > 0 and "more" or difference < 0 and "fewer" or "as many"
  context.difference = math.abs(difference)
  return context
end
--- above_average_orders
function run(context)
  local rows = must(query_db{sql = [[
    WITH t AS (
      SELECT order_id, sum(quantity * unit_price) AS total FROM order_items GROUP BY order_id
    )
    SELECT order_id, total FROM t WHERE total > (SELECT avg(total) * 2 FROM t) ORDER BY total DESC]]}, "orders")
  context.answer = list.map(rows, function(row) return row.order_id end)
  context.sum = stats.sum(rows, "total")
  return context
end
--- latest_orders_positional
function run(context)
  local rows = query_db("orders", "status = ?", {"shipped"}, {"id", "placed_at", "shipping"}, "placed_at DESC", 10)
  if rows.error then
    error("shipped orders: " .. rows.error)
  end
  local ids = {}
  for i, row in ipairs(rows) do
    ids[i] = row.id
  end
  context.ids = ids
  context.newest = rows[1] and rows[1].placed_at
  return context
end
--- abc_analysis
function run(context)
  local rows = must(query_db{sql = [[
    SELECT sku, ntile(3) OVER (ORDER BY revenue DESC) AS class FROM (
      SELECT p.sku, sum(i.quantity * i.unit_price) AS revenue
      FROM products p JOIN order_items i ON i.product_id = p.id
      GROUP BY p.sku
    ) AS r]]}, "classes")
  local names = {"A", "B", "C"}
  local classes = {A = {}, B = {}, C = {}}
  for _, row in ipairs(rows) do
    table.insert(classes[names[row.class]], row.sku)
  end
  for _, name in ipairs(names) do
    classes[name] = list.sort(classes[name])
  end
  return classes
end
--- order_age
-- context: {"today": "2026-09-01"}
function run(context)
  local rows = query_db{
    sql = "SELECT id, $1::date - placed_at::date AS days FROM orders WHERE status = 'new' ORDER BY days DESC",
    params = {context.today},
  }
  if rows.error then error(rows.error) end
  local old = list.filter(rows, function(row) return row.days > 60 end)
  context.old = list.pluck(old, "id")
  context.oldest = #rows > 0 and rows[1].days or 0
  return context
end
--- spread_by_interval
function run(context)
  local rows = query_db{
    sql = "SELECT max(placed_at) - min(placed_at) AS span, count(*) AS n FROM orders",
    intervals = "seconds",
  }
  if rows.error then error(rows.error) end
  local hours = rows[1].span / 3600
  context.hours_between = math.round(hours / (rows[1].n - 1), 2)
  return context
end
