--- rows_alias_of_expression
function run(context)
  local rows = must(query_db{sql = "SELECT price * stock AS value, upper(name) AS title FROM products ORDER BY value DESC LIMIT 3"}, "products")
  local lines = {}
  for _, row in ipairs(rows) do
    lines[#lines + 1] = row.title .. ": " .. row.value
  end
  return {lines = lines}
end
--- rows_star_with_join
function run(context)
  local rows = must(query_db{sql = "SELECT * FROM orders o JOIN customers c ON c.id = o.customer_id ORDER BY o.id LIMIT 2"}, "orders")
  local out = {}
  for _, row in ipairs(rows) do
    -- Both tables have a column `id`; the second is numbered.
    out[#out + 1] = row.id .. "/" .. row.id_2 .. " " .. row.email
  end
  return {out = out}
end
--- rows_common_table_expression
function run(context)
  local rows = must(query_db{sql = [[
    WITH totals AS (
      SELECT order_id, sum(quantity * unit_price) AS amount FROM order_items GROUP BY order_id
    )
    SELECT o.id, t.amount, o.status FROM orders o JOIN totals t ON t.order_id = o.id ORDER BY t.amount DESC LIMIT 5]]}, "orders")
  local best = rows[1]
  if not best then return {found = false} end
  return {found = true, id = best.id, amount = best.amount, status = best.status}
end
--- rows_union_of_two
function run(context)
  local rows = must(query_db{sql = "SELECT 'customer' AS kind, name FROM customers WHERE id = 1 UNION ALL SELECT 'product', name FROM products WHERE id = 1"}, "names")
  local by_kind = {}
  for _, row in ipairs(rows) do
    by_kind[row.kind] = row.name
  end
  return by_kind
end
--- rows_column_by_bracket
function run(context)
  local rows = must(query_db{table = "customers", columns = {"name", "country"}, limit = 2}, "customers")
  local first = rows[1]
  if not first then return {} end
  return {name = first["name"], country = first['country']}
end
--- rows_spaces_in_alias
function run(context)
  local rows = must(query_db{sql = 'SELECT count(*) AS "how many", min(price) AS "from-price" FROM products'}, "products")
  local row = rows[1] or {}
  return {n = row["how many"], from = row["from-price"]}
end
--- rows_json_column
function run(context)
  local rows = must(query_db{sql = "SELECT id, jsonb_build_object('city', city, 'since', joined_on) AS place FROM customers ORDER BY id LIMIT 3"}, "customers")
  local cities = {}
  for _, row in ipairs(rows) do
    cities[#cities + 1] = row.place.city .. " " .. row.place.since
  end
  return {cities = cities}
end
--- rows_json_list
function run(context)
  local rows = must(query_db{sql = "SELECT country, json_agg(json_build_object('name', name) ORDER BY id) AS people FROM customers GROUP BY country ORDER BY country"}, "people")
  local first = {}
  for _, row in ipairs(rows) do
    for _, person in ipairs(row.people) do
      first[row.country] = first[row.country] or person.name
    end
  end
  return first
end
--- rows_array_column
function run(context)
  local rows = must(query_db{sql = "SELECT city, array_agg(name ORDER BY name) AS names FROM customers GROUP BY city ORDER BY city"}, "cities")
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = row.city .. ": " .. table.concat(row.names, ", ") .. " (" .. #row.names .. ")"
  end
  return {out = out}
end
--- rows_dynamic_statement
-- context: {"columns": ["id", "email"]}
function run(context)
  local sql = "SELECT " .. table.concat(context.columns, ", ") .. " FROM customers ORDER BY id LIMIT 2"
  local rows = must(query_db{sql = sql}, "customers")
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = tostring(row.email or row.name or row.whatever)
  end
  return {out = out}
end
--- rows_dynamic_table
-- context: {"table": "returns"}
function run(context)
  local rows = must(query_db{table = context.table, limit = 2}, "rows")
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = row.reason or row.subject or "nothing"
  end
  return {out = out}
end
--- rows_renamed_in_plan
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "name", "price"}, limit = 3}, "products")
  local goods = list.map(rows, function(row)
    return {article = row.sku, label = row.name, cost = row.price}
  end)
  local lines = {}
  for _, good in ipairs(goods) do
    lines[#lines + 1] = good.article .. " " .. good.label .. " " .. good.cost
  end
  return {lines = lines}
end
--- rows_added_columns
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "price"}, limit = 4}, "products")
  for _, row in ipairs(rows) do
    row.gross = row.price * 1.19
  end
  local dear = list.filter(rows, function(row) return row.gross > 50 end)
  return {dear = list.pluck(dear, "sku"), sum = list.sum_by(rows, "gross")}
end
--- rows_optional_column_in_helper
local function label(row)
  return (row.nickname or row.name) .. " <" .. row.email .. ">"
end

function run(context)
  local rows = must(query_db{table = "customers", columns = {"name", "email"}, limit = 2}, "customers")
  local labels = {}
  for i, row in ipairs(rows) do
    labels[i] = label(row)
  end
  return {labels = labels}
end
--- rows_helper_of_two_queries
local function first(rows)
  return rows[1]
end

function run(context)
  local a = first(must(query_db{sql = "SELECT count(*) AS orders FROM orders"}, "orders"))
  local b = first(must(query_db{sql = "SELECT count(*) AS customers FROM customers"}, "customers"))
  if not a or not b then return {} end
  return {orders = a.orders, customers = b.customers}
end
--- rows_one_helper_asks_twice
local function ask(sql)
  return must(query_db{sql = sql}, "rows")
end

function run(context)
  local names = ask("SELECT name FROM categories ORDER BY id")
  local cities = ask("SELECT DISTINCT city FROM customers ORDER BY city")
  return {names = list.map(names, function(row) return row.name end), cities = list.map(cities, function(row) return row.city end)}
end
--- rows_helper_with_table_name
local function all(name)
  return must(query_db{table = name, order_by = "id", limit = 3}, name)
end

function run(context)
  local orders, tickets = all("orders"), all("tickets")
  local out = {}
  for _, order in ipairs(orders) do out[#out + 1] = order.status end
  for _, ticket in ipairs(tickets) do out[#out + 1] = ticket.subject end
  return {out = out}
end
--- rows_grouped_by_key
function run(context)
  local rows = must(query_db{sql = "SELECT country, name, city FROM customers ORDER BY id"}, "customers")
  local groups = list.group_by(rows, "country")
  local out = {}
  for _, country in ipairs(list.keys(groups)) do
    local first = groups[country][1]
    out[#out + 1] = country .. ": " .. first.name .. ", " .. #groups[country]
  end
  return {out = out}
end
--- rows_index_by_key
function run(context)
  local products = must(query_db{table = "products", columns = {"id", "name"}}, "products")
  local lines = must(query_db{sql = "SELECT product_id, sum(quantity) AS sold FROM order_items GROUP BY product_id ORDER BY sold DESC LIMIT 3"}, "lines")
  local by_id = list.index_by(products, "id")
  local out = {}
  for _, line in ipairs(lines) do
    local product = by_id[line.product_id]
    out[#out + 1] = (product and product.name or "gone") .. " " .. line.sold
  end
  return {out = out}
end
--- rows_put_in_other_tables
function run(context)
  local report = {sections = {}}
  for _, status in ipairs{"new", "paid"} do
    local rows = must(query_db{sql = "SELECT id, shipping FROM orders WHERE status::text = $1 ORDER BY id", params = {status}}, status)
    report.sections[#report.sections + 1] = {title = status, rows = rows, count = #rows}
  end
  local out = {}
  for _, section in ipairs(report.sections) do
    for _, row in ipairs(section.rows) do
      out[#out + 1] = section.title .. " " .. row.id .. " " .. row.shipping
    end
  end
  return {out = out}
end
--- rows_merged_with_others
function run(context)
  local rows = must(query_db{sql = "SELECT id, name FROM categories ORDER BY id LIMIT 2"}, "categories")
  rows[#rows + 1] = {id = 0, name = "other", invented = true}
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = row.name .. (row.invented and "*" or "")
  end
  return {out = out}
end
--- rows_inserted_row
function run(context)
  local rows = must(query_db{table = "categories", columns = {"name"}}, "categories")
  table.insert(rows, 1, {name = "all", is_first = true})
  local head = rows[1]
  return {first = head and head.name, is_first = head and head.is_first}
end
--- rows_copied_with_pairs
function run(context)
  local rows = must(query_db{table = "customers", columns = {"name", "city"}, limit = 1}, "customers")
  local copy = {}
  for key, value in pairs(rows[1] or {}) do
    copy[key] = value
  end
  copy.seen = true
  return {name = copy.name, city = copy.city, seen = copy.seen}
end
--- rows_from_either_query
-- context: {"detailed": false}
function run(context)
  local rows
  if context.detailed then
    rows = must(query_db{sql = "SELECT id, name, email, city FROM customers LIMIT 2"}, "customers")
  else
    rows = must(query_db{sql = "SELECT id, name FROM customers LIMIT 2"}, "customers")
  end
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = context.detailed and (row.name .. " " .. row.city) or row.name
  end
  return {out = out}
end
--- rows_statement_by_condition
-- context: {"open_only": true}
function run(context)
  local sql = "SELECT id, subject FROM tickets"
  if context.open_only then
    sql = sql .. " WHERE closed_on IS NULL"
  end
  local rows = must(query_db{sql = sql .. " ORDER BY id"}, "tickets")
  local subjects = {}
  for _, row in ipairs(rows) do
    subjects[#subjects + 1] = row.subject
  end
  return {subjects = subjects}
end
--- rows_statements_in_table
local STATEMENTS = {
  orders = "SELECT count(*) AS n FROM orders",
  products = "SELECT count(*) AS n, max(price) AS dearest FROM products",
}

function run(context)
  local orders = must(query_db{sql = STATEMENTS.orders}, "orders")[1]
  local products = must(query_db{sql = STATEMENTS.products}, "products")[1]
  return {orders = orders and orders.n, products = products and products.n, dearest = products and products.dearest}
end
--- rows_loop_over_statements
function run(context)
  local counts = {}
  for name, sql in pairs{a = "SELECT count(*) AS n FROM orders", b = "SELECT count(*) AS n, 1 AS extra FROM returns"} do
    local rows = must(query_db{sql = sql}, name)
    counts[name] = rows[1] and rows[1].n
    if rows[1] and rows[1].extra then counts.extra = rows[1].extra end
  end
  return counts
end
--- rows_numbers_as_text
function run(context)
  local rows = must(query_db{sql = "SELECT sku, price FROM products ORDER BY id LIMIT 3", exact = true}, "products")
  local sum = 0
  for _, row in ipairs(rows) do
    sum = sum + tonumber(row.price)
    if row.price * 1 > 1000 then print("dear") end
  end
  return {sum = sum}
end
--- rows_numeric_text_column
function run(context)
  local rows = must(query_db{sql = "SELECT substring(sku FROM 5) AS digits FROM products ORDER BY id LIMIT 3"}, "products")
  local sum = 0
  for _, row in ipairs(rows) do
    sum = sum + row.digits
  end
  return {sum = sum}
end
--- rows_dates_are_text
function run(context)
  local rows = must(query_db{sql = "SELECT id, placed_at, placed_at::date AS day FROM orders ORDER BY id LIMIT 3"}, "orders")
  local months = {}
  for _, row in ipairs(rows) do
    months[#months + 1] = row.placed_at:sub(1, 7) .. " " .. row.day:match("%d+$")
    if row.day < "2026-02-01" then months.early = true end
  end
  return {months = #months, early = months.early or false}
end
--- rows_null_columns
function run(context)
  local rows = must(query_db{table = "tickets", columns = {"id", "opened_on", "closed_on"}, order_by = "id"}, "tickets")
  local open = 0
  for _, row in ipairs(rows) do
    if row.closed_on == nil or row.closed_on == null then
      open = open + 1
    else
      print(row.id .. " closed on " .. row.closed_on)
    end
  end
  return {open = open}
end
--- rows_null_by_type
function run(context)
  local rows = must(query_db{table = "categories", columns = {"name", "parent_id"}}, "categories")
  local tops = list.filter(rows, function(row) return type(row.parent_id) ~= "number" end)
  return {tops = list.pluck(tops, "name")}
end
--- rows_booleans
function run(context)
  local rows = must(query_db{sql = "SELECT name, newsletter, city = 'Berlin' AS in_berlin FROM customers ORDER BY id LIMIT 5"}, "customers")
  local out = {}
  for _, row in ipairs(rows) do
    if row.newsletter and not row.in_berlin then
      out[#out + 1] = row.name
    end
  end
  return {out = out}
end
--- rows_sorted_by_comparator
function run(context)
  local rows = must(query_db{sql = "SELECT city, count(*) AS n FROM customers GROUP BY city"}, "cities")
  table.sort(rows, function(a, b)
    if a.n ~= b.n then return a.n > b.n end
    return a.city < b.city
  end)
  return {top = rows[1] and rows[1].city}
end
--- rows_chained_library
function run(context)
  local rows = must(query_db{table = "products", columns = {"name", "stock", "reorder_at", "active"}}, "products")
  local low = list.filter(rows, function(p) return p.active and p.stock < p.reorder_at end)
  local sorted = list.sort_by(low, function(p) return p.stock - p.reorder_at end)
  local three = list.take(sorted, 3)
  return {names = list.map(three, function(p) return p.name .. " " .. p.stock end)}
end
--- rows_reduce_to_total
function run(context)
  local rows = must(query_db{sql = "SELECT method, amount_cents FROM payments"}, "payments")
  local totals = list.reduce(rows, function(sums, row)
    sums[row.method] = (sums[row.method] or 0) + row.amount_cents
    return sums
  end, {})
  return totals
end
--- rows_partitioned
function run(context)
  local rows = must(query_db{table = "customers", columns = {"name", "segment"}}, "customers")
  local business, private = list.partition(rows, {segment = "business"})
  local first = business[1]
  return {business = #business, private = #private, first = first and first.name}
end
--- rows_found_one
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "name"}}, "products")
  local lamp = list.find(rows, function(row) return row.name:find("Lamp", 1, true) ~= nil end)
  if not lamp then return {found = false} end
  return {found = true, sku = lamp.sku}
end
--- rows_chunks_of_rows
function run(context)
  local rows = must(query_db{table = "orders", columns = {"id", "status"}, order_by = "id", limit = 7}, "orders")
  local lines = {}
  for number, chunk in ipairs(list.chunk(rows, 3)) do
    for _, row in ipairs(chunk) do
      lines[#lines + 1] = number .. ": " .. row.id .. " " .. row.status
    end
  end
  return {lines = lines}
end
--- rows_each_with_index
function run(context)
  local rows = must(query_db{table = "categories", columns = {"id", "name"}}, "categories")
  local out = {}
  list.each(rows, function(row, place) out[place] = place .. ". " .. row.name end)
  return {out = out}
end
--- rows_zip_of_two
function run(context)
  local a = must(query_db{sql = "SELECT name FROM categories ORDER BY id LIMIT 2"}, "a")
  local b = must(query_db{sql = "SELECT city FROM customers ORDER BY id LIMIT 2"}, "b")
  local out = {}
  for _, pair in ipairs(list.zip(a, b)) do
    out[#out + 1] = pair[1].name .. "/" .. pair[2].city
  end
  return {out = out}
end
--- rows_concat_of_two
function run(context)
  local a = must(query_db{sql = "SELECT name, city FROM customers LIMIT 1"}, "a")
  local b = must(query_db{sql = "SELECT name, sku FROM products LIMIT 1"}, "b")
  local out = {}
  for _, row in ipairs(list.concat(a, b)) do
    out[#out + 1] = row.name .. " " .. (row.city or row.sku)
  end
  return {out = out}
end
--- rows_protected_call
function run(context)
  local ok, rows = pcall(query_db, {sql = "SELECT id, subject FROM tickets WHERE priority = 1"})
  if not ok or rows.error then return {failed = true} end
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = row.subject
  end
  return {out = out}
end
--- rows_side_by_side
function run(context)
  local answers = parallel{
    stock = function() return query_db{sql = "SELECT sum(stock) AS units FROM products"} end,
    open = function() return query_db{sql = "SELECT count(*) AS n FROM tickets WHERE closed_on IS NULL"} end,
  }
  local stock, open = must(answers.stock, "stock"), must(answers.open, "open")
  return {units = stock[1] and stock[1].units, open = open[1] and open[1].n}
end
--- rows_tried_again
function run(context)
  local rows = retry(2, query_db, {sql = "SELECT id, total.amount FROM orders JOIN LATERAL (SELECT sum(quantity * unit_price) AS amount FROM order_items WHERE order_id = id) AS total ON true LIMIT 2"})
  if rows.error then error(rows.error) end
  return {amount = rows[1] and rows[1].amount}
end
--- rows_page_by_page
function run(context)
  local after, seen = 0, {}
  while true do
    local page = must(query_db{sql = "SELECT id, email FROM customers WHERE id > $1 ORDER BY id LIMIT 15", params = {after}}, "page")
    if #page == 0 then break end
    for _, row in ipairs(page) do seen[#seen + 1] = row.email end
    after = page[#page].id
  end
  return {count = #seen}
end
--- rows_kept_from_earlier_page
function run(context)
  local last
  for _, status in ipairs{"new", "paid", "shipped"} do
    local rows = must(query_db{sql = "SELECT id, placed_at FROM orders WHERE status::text = $1 ORDER BY id DESC LIMIT 1", params = {status}}, status)
    if rows[1] and (not last or rows[1].id > last.id) then last = rows[1] end
  end
  return {last = last and last.placed_at}
end
--- rows_window_function
function run(context)
  local rows = must(query_db{sql = "SELECT name, country, row_number() OVER (PARTITION BY country ORDER BY id) AS place FROM customers"}, "customers")
  local firsts = list.filter(rows, {place = 1})
  return {firsts = list.map(firsts, function(row) return row.country .. " " .. row.name end)}
end
--- rows_values_list
function run(context)
  local rows = must(query_db{sql = "SELECT v.code, v.label FROM (VALUES (1, 'urgent'), (4, 'can wait')) AS v(code, label)"}, "codes")
  local labels = {}
  for _, row in ipairs(rows) do labels[tostring(row.code)] = row.label end
  return labels
end
--- rows_generate_series
function run(context)
  local rows = must(query_db{sql = "SELECT day::date AS day, (SELECT count(*) FROM orders WHERE placed_at::date = day) AS orders FROM generate_series(date '2026-01-04', date '2026-01-08', interval '1 day') AS day"}, "days")
  local busy = 0
  for _, row in ipairs(rows) do
    if row.orders > 0 then busy = busy + 1 end
  end
  return {days = #rows, busy = busy}
end
--- rows_intervals_in_seconds
function run(context)
  local rows = must(query_db{sql = "SELECT order_id, paid_at - lag(paid_at) OVER (ORDER BY id) AS gap FROM payments ORDER BY id LIMIT 3", intervals = "seconds"}, "gaps")
  local hours = 0
  for _, row in ipairs(rows) do
    hours = hours + (row.gap or 0) / 3600
  end
  return {hours = hours}
end
--- rows_error_text_first
function run(context)
  local rows = query_db{table = "returns", columns = {"reason", "quantity"}}
  if rows.error then
    return {failed = rows.error, code = rows.code, can_wait = rows.retryable}
  end
  local reasons = {}
  for _, row in ipairs(rows) do
    reasons[row.reason] = (reasons[row.reason] or 0) + row.quantity
  end
  return reasons
end
--- rows_error_in_condition
function run(context)
  local rows = query_db{table = "returns", columns = {"reason"}}
  local list_of = (not rows.error) and rows or {}
  local n = 0
  for _, row in ipairs(list_of) do
    if row.reason == "late" then n = n + 1 end
  end
  return {late = n}
end
--- rows_recursive_query
function run(context)
  local rows = must(query_db{sql = [[
    WITH RECURSIVE tree(id, path, depth) AS (
      SELECT id, name::text, 1 FROM categories WHERE parent_id IS NULL
      UNION ALL
      SELECT c.id, t.path || ' / ' || c.name, t.depth + 1 FROM categories c JOIN tree t ON t.id = c.parent_id)
    SELECT path, depth FROM tree ORDER BY path]]}, "tree")
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = string.rep("  ", row.depth - 1) .. row.path
  end
  return {out = out}
end
--- rows_filled_into_template
function run(context)
  local rows = must(query_db{sql = "SELECT country, count(*) AS n, max(joined_on) AS latest FROM customers GROUP BY country ORDER BY country"}, "countries")
  local page = transform_data({rows = rows, title = "Countries"}, "{{ title }}\n{% for r in rows %}{{ r.country }} {{ r.n }} {{ r.latest|date('%d.%m.%Y') }}\n{% endfor %}{{ rows|sum(attribute='n') }}", "text")
  return {page = must(page, "the page")}
end
--- rows_with_added_keys_in_template
function run(context)
  local rows = must(query_db{sql = "SELECT sku, price FROM products ORDER BY sku LIMIT 4"}, "products")
  for place, row in ipairs(rows) do
    row.place = place
    row["label"] = row.sku .. "!"
  end
  local page = must(transform_data(rows, "{% for r in rows %}{{ r.place }} {{ r.label }} {{ r.price|number(2) }}\n{% endfor %}"), "page")
  return {page = page}
end
--- rows_shared_template
local CARD = "{{ name }}{% if email %} <{{ email }}>{% endif %}{% if sku is defined %} ({{ sku }}){% endif %}\n"

function run(context)
  local customer = must(query_db{sql = "SELECT name, email FROM customers WHERE id = 1"}, "customer")[1]
  local product = must(query_db{sql = "SELECT name, sku FROM products WHERE id = 1"}, "product")[1]
  if not customer or not product then return {} end
  local cards = must(transform_data(customer, CARD), "card") .. must(transform_data(product, CARD), "card")
  return {cards = cards}
end
--- rows_grouped_template
function run(context)
  local rows = must(query_db{table = "customers", columns = {"name", "city", "segment"}, order_by = "city, name"}, "customers")
  local page = must(transform_data(rows, [[
{% for city, people in rows|groupby("city") %}{{ city }}: {% for p in people|sort(attribute="name") %}{{ p.name }}{{ ", " if not loop.last }}{% endfor %}
{% endfor %}{{ rows|map(attribute="segment")|unique|join("/") }} {{ (rows|first).name }} {{ rows|selectattr("segment", "eq", "business")|list|length }}]], "text"), "page")
  return {page = page}
end
--- rows_template_of_one_row
-- context: {"id": 5}
function run(context)
  local row = must(query_db{table = "products", where = {id = context.id}}, "product")[1]
  if not row then return {page = "gone"} end
  local page = transform_data{input = row, template = "{{ sku }} {{ name }} {{ price|number(2) }}{% if not active %} (old){% endif %} {{ input.stock }}\n"}
  return {page = must(page, "page")}
end
--- rows_nested_for_template
function run(context)
  local orders = must(query_db{sql = "SELECT id, status FROM orders ORDER BY id LIMIT 3"}, "orders")
  local lines = must(query_db{sql = "SELECT order_id, quantity, unit_price FROM order_items WHERE order_id <= 3 ORDER BY order_id, line"}, "lines")
  local by_order = list.group_by(lines, "order_id")
  for _, order in ipairs(orders) do
    order.lines = by_order[order.id] or {}
  end
  local page = must(transform_data({orders = orders}, "{% for o in orders %}{{ o.id }} {{ o.status }}{% for l in o.lines %} {{ l.quantity }}x{{ l.unit_price }}{% endfor %}\n{% endfor %}"), "page")
  return {page = page}
end
--- rows_csv_of_columns
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "name", "stock"}, limit = 3}, "products")
  local all = must(transform_data(rows, "stock,sku", "csv"), "csv")
  local one = must(transform_data(rows, "name", "csv"), "csv")
  return {all = all, one = one, own = csv.encode(rows)}
end
--- rows_template_by_choice
-- context: {"form": "short"}
function run(context)
  local rows = must(query_db{sql = "SELECT sku, name FROM products LIMIT 2"}, "products")
  local template = "{% for r in rows %}{{ r.sku }}\n{% endfor %}"
  if context.form == "long" then
    template = "{% for r in rows %}{{ r.sku }} {{ r.name }}\n{% endfor %}"
  end
  return {page = must(transform_data(rows, template), "page")}
end
--- rows_of_no_statement
function run(context)
  local data = {{name = "a", price = 1}, {name = "b", price = 2, note = "new"}}
  local out = {}
  for _, item in ipairs(data) do
    out[#out + 1] = item.name .. (item.note and " " .. item.note or "")
  end
  local page = must(transform_data(data, "{% for d in items %}{{ d.name }} {{ d.note|default('-') }}\n{% endfor %}"), "page")
  return {out = out, page = page}
end
--- rows_of_decoded_text
function run(context)
  local rows = must(query_db{sql = "SELECT json_build_object('a', 1, 'b', json_build_array(1, 2))::text AS document"}, "document")
  local row = rows[1]
  if not row then return {} end
  local document = json.decode(row.document)
  return {a = document.a, n = #document.b}
end
--- rows_length_of_text
function run(context)
  local rows = must(query_db{sql = "SELECT name FROM products ORDER BY length(name) DESC LIMIT 1"}, "products")
  local row = rows[1]
  return {longest = row and #row.name, upper = row and row.name:upper()}
end
--- rows_in_closures
function run(context)
  local rows = must(query_db{table = "orders", columns = {"id", "status"}, limit = 5}, "orders")
  local count = 0
  local function look(row)
    if row.status == "paid" then count = count + 1 end
    return row.id
  end
  local ids = list.map(rows, look)
  return {ids = ids, paid = count}
end
--- rows_metatable_default
function run(context)
  local rows = must(query_db{table = "categories", columns = {"name"}}, "categories")
  local out = {}
  for _, row in ipairs(rows) do
    setmetatable(row, {__index = function() return "none" end})
    out[#out + 1] = row.name .. row.anything
  end
  return {out = out}
end
--- rows_written_by_computed_name
function run(context)
  local rows = must(query_db{table = "products", columns = {"sku", "stock"}, limit = 3}, "products")
  for _, row in ipairs(rows) do
    for _, size in ipairs{"small", "large"} do
      row[size] = row.stock * (size == "small" and 1 or 2)
    end
  end
  return {first = rows[1] and rows[1].large}
end
