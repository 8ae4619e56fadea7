--- customers_by_country
function run(context)
  local rows = query_db{table = "customers", columns = {"id", "country"}}
  if rows.error then
    error("the customers could not be read: " .. rows.error)
  end
  local answer = json.object()
  for country, group in pairs(list.group_by(rows, "country")) do
    answer[country] = #group
  end
  context.answer = answer
  return context
end
--- never_ordered
function run(context)
  local rows = must(query_db{
    sql = "SELECT c.email FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL ORDER BY c.email",
  }, "customers without orders")
  context.answer = list.pluck(rows, "email")
  return context
end
--- newsletter_readers
-- context: {"country": "FR"}
function run(context)
  local rows = query_db{
    table = "customers",
    where = {country = context.country, newsletter = true},
    columns = {"name", "email"},
    order_by = "name",
  }
  if rows.error then return {found = 0, why = rows.error} end
  local lines = {}
  for _, row in ipairs(rows) do
    lines[#lines + 1] = row.name .. " <" .. row.email .. ">"
  end
  return {found = #rows, lines = lines}
end
--- joined_by_year
function run(context)
  local rows = query_db{sql = "SELECT extract(year FROM joined_on)::int AS year, count(*) AS joined FROM customers GROUP BY year ORDER BY year"}
  if rows.error then error(rows.error) end
  context.answer = list.map(rows, function(row)
    return {year = row.year, joined = row.joined}
  end)
  return context
end
--- repeat_customers
function run(context)
  local rows = must(query_db{sql = [[
    SELECT count(*) FILTER (WHERE n > 1) AS again, count(*) AS buyers
    FROM (SELECT customer_id, count(*) AS n FROM orders WHERE status <> 'cancelled' GROUP BY customer_id) AS x]]},
    "the buyers")
  local row = rows[1] or {again = 0, buyers = 0}
  context.percent = row.buyers > 0 and math.round(100 * row.again / row.buyers) or 0
  return context
end
--- best_customers
-- context: {"top": 5}
local SQL = [[
  SELECT c.id, c.name, count(DISTINCT o.id) AS orders, sum(i.quantity * i.unit_price) AS spent
  FROM customers c
  JOIN orders o ON o.customer_id = c.id AND o.status <> 'cancelled'
  JOIN order_items i ON i.order_id = o.id
  GROUP BY c.id, c.name
  ORDER BY spent DESC, c.id
  LIMIT $1]]

function run(context)
  local rows = query_db{sql = SQL, params = {context.top}}
  if rows.error then
    error("best customers: " .. rows.error)
  end
  local answer = {}
  for place, row in ipairs(rows) do
    answer[place] = {customer = row.id, orders = row.orders, spent = math.round(row.spent, 2)}
  end
  context.answer = answer
  return context
end
--- sleeping_customers
-- context: {"today": "2026-09-01", "days": 60}
function run(context)
  local since = date.add(context.today, -context.days)
  local rows = query_db{
    sql = [[
      SELECT c.id, max(o.placed_at)::date AS latest
      FROM customers c JOIN orders o ON o.customer_id = c.id
      GROUP BY c.id
      HAVING max(o.placed_at)::date < $1::date
      ORDER BY latest]],
    params = {since},
  }
  if rows.error then error(rows.error) end
  for _, row in ipairs(rows) do
    row.days = date.diff(row.latest, context.today)
  end
  context.sleeping = rows
  return context
end
--- crowded_cities
function run(context)
  local rows = must(query_db{
    sql = "SELECT city, count(*) AS people FROM customers GROUP BY city HAVING count(*) > ? ORDER BY people DESC, city",
    params = {4},
  }, "cities")
  context.answer = list.map(rows, "city")
  return context
end
--- business_addresses
function run(context)
  local rows = query_db{
    table = "customers",
    where = "segment = ? AND country IN (?)",
    params = {"business", {"DE", "FR", "IT"}},
    columns = {"id", "email", "country", "city"},
    order_by = "country, city, id",
  }
  if rows.error then
    error(rows.error)
  end
  local by_country = list.group_by(rows, "country")
  for _, code in ipairs(list.keys(by_country)) do
    print(code .. ": " .. #by_country[code])
  end
  context.csv = csv.encode(rows, {columns = {"email", "city", "country"}})
  return context
end
--- domains_of_addresses
function run()
  local rows = query_db{sql = "SELECT split_part(email, '@', 2) AS domain, count(*) AS n FROM customers GROUP BY domain ORDER BY n DESC, domain"}
  if rows.error then
    return {domains = {}, problem = rows.error}
  end
  local domains = {}
  for _, row in ipairs(rows) do
    domains[row.domain] = row.n
  end
  return {domains = domains}
end
--- days_to_first_order
function run(context)
  local rows = must(query_db{sql = [[
    SELECT c.id, min(o.placed_at)::date - c.joined_on AS days
    FROM customers c INNER JOIN orders o ON c.id = o.customer_id
    GROUP BY c.id, c.joined_on]]}, "days")
  context.median = stats.median(rows, "days")
  context.longest = stats.max(rows, "days")
  context.count = #rows
  return context
end
--- customers_of_category
-- context: {"category": "Plants"}
function run(context)
  local found = query_db{
    sql = "SELECT DISTINCT c.id, c.name FROM customers c "
      .. "JOIN orders o ON o.customer_id = c.id "
      .. "JOIN order_items i ON i.order_id = o.id "
      .. "JOIN products p ON p.id = i.product_id "
      .. "WHERE p.category_id = (SELECT id FROM categories WHERE name = :category) "
      .. "ORDER BY c.id",
    params = {category = context.category},
  }
  if found.error then
    error("customers of " .. context.category .. ": " .. found.error)
  end
  context.names = list.pluck(found, "name")
  return context
end
--- same_name
function run(context)
  local rows = query_db{sql = "SELECT name, array_agg(id ORDER BY id) AS ids FROM customers GROUP BY name HAVING count(*) > 1"}
  if rows.error then error(rows.error) end
  local doubles = list.empty()
  for _, row in ipairs(rows) do
    if #row.ids > 1 then
      table.insert(doubles, {name = row.name, ids = row.ids})
    end
  end
  context.doubles = doubles
  return context
end
--- segment_of_one
-- context: {"email": "customer8@example.com"}
function run(context)
  local rows = query_db{sql = "SELECT segment FROM customers WHERE lower(email) = lower($1)", params = {context.email}}
  if rows.error then
    error(rows.error)
  end
  if #rows == 0 then
    return {known = false}
  end
  return {known = true, segment = rows[1].segment}
end
--- customer_card
-- context: {"id": 8}
function run(context)
  local answers = parallel{
    person = function() return query_db{table = "customers", where = {id = context.id}} end,
    orders = function() return query_db{table = "orders", where = {customer_id = context.id}, order_by = "placed_at DESC"} end,
    tickets = function() return query_db{table = "tickets", where = "customer_id = ? AND closed_on IS NULL", params = {context.id}} end,
  }
  local person = must(answers.person, "the customer")[1]
  local orders = must(answers.orders, "the orders")
  local tickets = must(answers.tickets, "the tickets")
  if person == nil then
    return {found = false}
  end
  return {found = true, city = person.city, since = person.joined_on, orders = #orders, open_tickets = #tickets}
end
--- newsletter_share
function run(context)
  local rows = query_db{sql = "SELECT country, round(100.0 * avg(newsletter::int), 1) AS percent FROM customers GROUP BY country ORDER BY country"}
  if rows.error then error(rows.error) end
  local above = list.filter(rows, function(row) return row.percent > 30 end)
  context.above = list.map(above, function(row) return row.country .. " " .. row.percent .. "%" end)
  return context
end
--- cohort_orders
function run(context)
  local rows = must(query_db{sql = [[
    SELECT to_char(c.joined_on, 'YYYY"Q"Q') AS cohort, count(DISTINCT c.id) AS customers, count(o.id) AS orders
    FROM customers c
    LEFT JOIN orders o ON o.customer_id = c.id
    GROUP BY cohort
    ORDER BY cohort]]}, "cohorts")
  local out = {}
  for _, row in ipairs(rows) do
    out[row.cohort] = row.customers == 0 and 0 or math.round(row.orders / row.customers, 2)
  end
  context.cohorts = out
  return context
end
--- spending_classes
function run()
  local rows = must(query_db{sql = [[
    SELECT CASE WHEN spent < 300 THEN 'small' WHEN spent < 800 THEN 'middle' ELSE 'large' END AS class, count(*) AS n
    FROM (
      SELECT o.customer_id, sum(i.quantity * i.unit_price) AS spent
      FROM orders o JOIN order_items i ON i.order_id = o.id GROUP BY o.customer_id
    ) AS s
    GROUP BY 1]]}, "classes")
  local classes = {small = 0, middle = 0, large = 0}
  for i = 1, #rows do
    classes[rows[i].class] = rows[i].n
  end
  return classes
end
--- several_customers
-- context: {"ids": [3, 5, 8]}
function run(context)
  if #context.ids == 0 then
    return {names = {}}
  end
  local rows = query_db{sql = "SELECT id, name, city FROM customers WHERE id IN (?) ORDER BY id", params = {context.ids}}
  if rows.error then error(rows.error) end
  local names = {}
  for _, row in ipairs(rows) do
    names[#names + 1] = row.name .. ", " .. row.city
  end
  return {names = names}
end
--- mixed_cases
function run(context)
  local sql = "SELECT id, email FROM customers WHERE email ~ '[A-Z]' OR email NOT LIKE '%_@_%.__%'"
  local odd = query_db{sql = sql}
  if odd.error then error(odd.error) end
  if #odd > 0 then
    context.odd = list.pluck(odd, "email")
  else
    context.odd = list.empty()
  end
  context.ok = #odd == 0
  return context
end
--- age_of_accounts
-- context: {"today": "2026-06-30"}
function run(context)
  local rows = query_db{
    sql = "SELECT id, extract(year FROM age(?::date, joined_on))::int AS years FROM customers",
    params = {context.today},
  }
  if rows.error then error(rows.error) end
  local by_years = {}
  for _, row in ipairs(rows) do
    local key = tostring(row.years)
    by_years[key] = (by_years[key] or 0) + 1
  end
  context.by_years = by_years
  return context
end
--- next_customer_after
-- context: {"email": "customer20@example.com"}
function run(context)
  local rows = must(query_db{sql = [[
    SELECT email, next FROM (
      SELECT email, lead(email) OVER (ORDER BY joined_on, id) AS next FROM customers
    ) AS l WHERE email = $1]], params = {context.email}}, "the next customer")
  local row = rows[1]
  context.next = row and row.next or "none"
  return context
end
--- dynamic_columns
-- context: {"fields": ["city", "country"]}
function run(context)
  local known = {city = true, country = true, segment = true}
  local columns = {"id"}
  for _, field in ipairs(context.fields) do
    if known[field] then
      columns[#columns + 1] = field
    end
  end
  local rows = query_db{sql = "SELECT " .. table.concat(columns, ", ") .. " FROM customers ORDER BY id LIMIT 3"}
  if rows.error then error(rows.error) end
  context.rows = rows
  return context
end
--- cities_by_country
function run(context)
  local rows = must(query_db{sql = "SELECT country, string_agg(DISTINCT city, ', ' ORDER BY city) AS cities FROM customers GROUP BY country"}, "cities")
  local answer = json.object()
  for _, row in ipairs(rows) do
    answer[row.country] = text.split(row.cities, ", ")
  end
  context.answer = answer
  return context
end
--- customers_as_json
function run(context)
  local rows = query_db{sql = "SELECT jsonb_build_object('id', id, 'place', city || ' (' || country || ')') AS card FROM customers WHERE id <= 3 ORDER BY id"}
  if rows.error then error(rows.error) end
  local places = {}
  for i, row in ipairs(rows) do
    places[i] = row.card.place
  end
  context.places = places
  return context
end
