--- near_star_fields
function run(context)
  local rows = query_db{sql = "SELECT * FROM products WHERE id = 7"}
  if rows.error then error(rows.error) end
  local row = rows[1]
  if not row then return {found = false} end
  return {found = true, line = row.sku .. " " .. row.name .. " " .. row.category_id .. " " .. tostring(row.active)}
end
--- near_star_of_alias
function run(context)
  local rows = must(query_db{sql = "SELECT o.*, c.email FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id < 4 ORDER BY o.id"}, "orders")
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = row.email .. " " .. row.status .. " " .. row.customer_id
  end
  context.out = out
  return context
end
--- near_unnamed_columns
function run(context)
  local rows = query_db{sql = "SELECT count(*), max(price), upper('sku'), 1 + 1 FROM products"}
  if rows.error then error(rows.error) end
  local row = rows[1] or {}
  context.count = row.count
  context.max = row.max
  context.word = row.upper
  context.two = row["?column?"]
  return context
end
--- near_same_column_twice
function run(context)
  local rows = must(query_db{sql = "SELECT c.name, p.name FROM categories c JOIN categories p ON p.id = c.parent_id ORDER BY c.id"}, "names")
  context.lines = list.map(rows, function(row)
    return row.name .. " below " .. row.name_2
  end)
  return context
end
--- near_cast_names
function run(context)
  local rows = query_db{sql = "SELECT placed_at::date, CAST(shipping AS text), (SELECT name FROM customers WHERE id = customer_id) FROM orders ORDER BY id LIMIT 2"}
  if rows.error then error(rows.error) end
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = row.placed_at .. " " .. row.shipping .. " " .. #row.name
  end
  context.lines = lines
  return context
end
--- near_own_fields_on_rows
function run(context)
  local rows = query_db{table = "products", columns = {"sku", "stock", "reorder_at"}, order_by = "sku"}
  if rows.error then error(rows.error) end
  for _, row in ipairs(rows) do
    row.missing = math.max(row.reorder_at - row.stock, 0)
    row.label = row.missing > 0 and "order" or "fine"
  end
  local wanted = list.filter(rows, {label = "order"})
  context.units = list.sum_by(wanted, "missing")
  return context
end
--- near_asked_fields
function run(context)
  local rows = query_db{table = "customers", where = {id = {1, 2}}, order_by = "id"}
  if rows.error then error(rows.error) end
  local names = {}
  for _, row in ipairs(rows) do
    names[#names + 1] = row.nickname or row.name
    if row.phone then
      context.phone = row.phone
    end
  end
  context.names = names
  return context
end
--- near_pairs_of_row
function run(context)
  local rows = query_db{sql = "SELECT min(price) AS low, max(price) AS high, count(*) AS n FROM products"}
  if rows.error then error(rows.error) end
  for column, value in pairs(rows[1] or {}) do
    context[column] = value
  end
  return context
end
--- near_field_by_variable
-- context: {"field": "city"}
function run(context)
  local rows = query_db{table = "customers", columns = {"id", context.field}, limit = 3, order_by = "id"}
  if rows.error then error(rows.error) end
  local values = {}
  for i, row in ipairs(rows) do
    values[i] = row[context.field]
  end
  context.values = values
  return context
end
--- near_error_details
function run(context)
  local rows = query_db{sql = "SELECT id FROM orders WHERE status = 'paid'"}
  if rows.error then
    return {error_text = rows.error, code = rows.code, again = rows.retryable, state = rows.sqlstate, hint = rows.hint}
  end
  return {n = #rows, code = rows.code or "none"}
end
--- near_other_statements
function run(context)
  local statements = {
    table = "TABLE categories",
    values = "VALUES (1, 'one'), (2, 'two')",
    explain = "EXPLAIN SELECT id FROM orders",
    zone = "SHOW timezone",
  }
  local counts = {}
  for _, name in ipairs(list.keys(statements)) do
    local rows = query_db{sql = statements[name]}
    if rows.error then error(name .. ": " .. rows.error) end
    counts[name] = #rows > 0
  end
  context.counts = counts
  return context
end
--- near_catalog
function run(context)
  local rows = query_db{sql = [[
    SELECT column_name, data_type FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = 'orders' ORDER BY ordinal_position]]}
  if rows.error then error(rows.error) end
  local columns = {}
  for _, row in ipairs(rows) do
    columns[row.column_name] = row.data_type
  end
  context.columns = columns
  return context
end
--- near_schema_named
function run(context)
  local one = query_db{table = "public.categories", columns = {"id"}}
  local other = query_db{sql = 'SELECT "c"."id" FROM "public"."categories" AS "c"'}
  if one.error or other.error then
    error(one.error or other.error)
  end
  context.same = #one == #other
  return context
end
--- near_question_mark_operator
function run(context)
  local rows = query_db{sql = [[SELECT sku FROM products WHERE jsonb_build_object('sku', sku) ? 'sku' AND name LIKE 'Lamp%' ORDER BY sku]]}
  if rows.error then error(rows.error) end
  context.skus = list.pluck(rows, "sku")
  return context
end
--- near_same_param_twice
-- context: {"day": "2026-05-04"}
function run(context)
  local rows = query_db{
    sql = "SELECT count(*) FILTER (WHERE placed_at::date = $1::date) AS that_day, count(*) FILTER (WHERE placed_at::date > $1::date) AS later FROM orders",
    params = {context.day},
  }
  if rows.error then error(rows.error) end
  local row = rows[1] or {}
  context.that_day, context.later = row.that_day, row.later
  return context
end
--- near_params_as_text
function run(context)
  local rows = query_db{sql = "SELECT sku FROM products WHERE price > ? AND stock >= ? AND active = ? ORDER BY sku", params = {"50", 10, true}}
  if rows.error then error(rows.error) end
  local dates = query_db{sql = "SELECT count(*) AS n FROM tickets WHERE opened_on BETWEEN ? AND ?", params = {"2026-03-01", "2026-03-31"}}
  if dates.error then error(dates.error) end
  context.skus = #rows
  context.tickets = dates[1] and dates[1].n or 0
  return context
end
--- near_recipient_forms
function run(context)
  local receipt = send_email{
    to = "Orders <orders@shop.example>, sales@shop.example",
    cc = {"customer1@EXAMPLE.com"},
    reply_to = "reports@shop.example",
    subject = "Forms of addresses",
    body = "Plain, with a name, and in capitals.",
  }
  if receipt.error then error(receipt.error) end
  context.recipients = #receipt.recipients
  return context
end
--- near_recipient_built
local DOMAIN = "shop.example"

function run(context)
  local to = {}
  for _, role in ipairs{"orders", "stock"} do
    to[#to + 1] = role .. "@" .. DOMAIN
  end
  local receipt = send_email{to = to, subject = "Built", body = "Addresses made from parts."}
  if receipt.error then error(receipt.error) end
  return {to = receipt.recipients}
end
--- near_addresses_not_used
-- Never write to admin@shop.example: see https://intranet.shop.example/mail.
function run(context)
  local old = {"boss@shop.example", "https://old.shop.example/"}
  local receipt = send_email("support@shop.example", "Old addresses", "Out of use: " .. table.concat(old, ", "))
  if receipt.error then error(receipt.error) end
  context.listed = #old
  return context
end
--- near_url_forms
function run(context)
  local urls = {
    "https://files.shop.example/terms.txt?v=2#top",
    "https://files.shop.example/terms.txt",
  }
  local bodies = fetch_url(urls, true)
  if bodies.error then error(bodies.error) end
  local sizes = {}
  for i, url in ipairs(urls) do
    local body = bodies[url]
    sizes[i] = type(body) == "string" and #body or 0
  end
  context.sizes = sizes
  return context
end
--- near_template_default
function run(context)
  local page = transform_data({name = "shop"}, "{{ name }} {{ town|default('nowhere') }} {{ (address|default({})).street|default('') }}{% if owner is defined %}{{ owner.name }}{% endif %}\n", "text")
  if type(page) ~= "string" then error(page.error) end
  context.page = text.trim(page)
  return context
end
--- near_template_raw
function run(context)
  local page = transform_data({n = 2}, "{% raw %}{{ not_a_field|no_filter }}{% endraw %} and {{ n }}", "text")
  if type(page) ~= "string" then error(page.error) end
  context.page = page
  return context
end
--- near_template_scopes
function run(context)
  local page = transform_data({rows = {{id = 1, tags = {"a", "b"}}, {id = 2, tags = {}}}}, [==[
{% set total = rows|length %}{% for id, name in [[1, "x"]] if id > 1 %}{{ name }}{% endfor %}
{%- for r in rows %}{{ loop.index0 }}/{{ total }}:{% for t in r.tags %}{{ t }}{% else %}none{% endfor %} {% endfor %}]==], "text")
  if type(page) ~= "string" then
    return {page = "", why = page.code}
  end
  return {page = text.trim(page)}
end
--- near_format_text
function run(context)
  local line = string.format("SELECT %s FROM nowhere", "nothing")
  local page = transform_data({sql = line}, "{{ sql }} {{ '{{ no template }}' }}\n", "text")
  if type(page) ~= "string" then error(page.error) end
  print(page)
  context.length = #page
  return context
end
--- near_shadowed_tool
local function query(sql, params)
  local query_db_rows = query_db{sql = sql, params = params}
  if query_db_rows.error then
    error("query failed: " .. query_db_rows.error)
  end
  return query_db_rows
end

function run(context)
  local some = query("SELECT name AS label FROM categories WHERE parent_id = $1 ORDER BY name", {1})
  local all = query("SELECT name AS label FROM categories ORDER BY name")
  context.some = list.pluck(some, "label")
  context.all = #all
  return context
end
--- near_two_shapes_one_variable
-- context: {"wide": true}
function run(context)
  local rows
  if context.wide then
    rows = query_db{sql = "SELECT sku, name, price FROM products ORDER BY sku LIMIT 2"}
  else
    rows = query_db{sql = "SELECT sku FROM products ORDER BY sku LIMIT 2"}
  end
  if rows.error then error(rows.error) end
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = row.price and row.sku .. " " .. row.price or row.sku
  end
  context.out = out
  return context
end
