--- style_local_function_first
local function fail(what, result)
  if result.error then
    error(what .. ": " .. result.error, 0)
  end
  return result
end

function run(context)
  local rows = fail("orders", query_db{sql = "select id, status from orders where shipping > 5 order by id limit 10"})
  context.ids = {}
  for index = 1, #rows do context.ids[index] = rows[index].id end
  return context
end
--- style_run_assigned
run = function(ctx)
  local result = query_db({ sql = "SELECT COUNT(*) AS total FROM tickets WHERE priority = 1" })
  if result.error ~= nil then
    return { success = false, message = result.error }
  end
  local total = result[1] and result[1].total or 0
  return { success = true, total = total }
end
--- style_semicolons
function run(context)
  local q = "SELECT country, COUNT(*) AS cnt FROM customers WHERE joined_on < DATE '2025-01-01' GROUP BY country;";
  local rows = query_db({sql = q, database = "shop"});
  if rows.error then error(rows.error); end;
  local map = {};
  for _, r in ipairs(rows) do map[r.country] = r.cnt; end;
  context.map = map;
  return context;
end
--- style_concat_over_lines
function run(context)
  local sql = "SELECT o.id AS order_id, " ..
              "       c.name AS customer_name, " ..
              "       EXTRACT(MONTH FROM o.placed_at)::int AS month " ..
              "FROM orders o " ..
              "LEFT JOIN customers c ON (c.id = o.customer_id) " ..
              "WHERE o.status::text LIKE 'deliv%' " ..
              "ORDER BY o.id ASC LIMIT 4"
  local rows = query_db{sql = sql}
  if rows.error then error(rows.error) end
  local result = {}
  for _, row in ipairs(rows) do
    result[#result + 1] = {id = row.order_id, who = row.customer_name, month = row.month}
  end
  context.result = result
  return context
end
--- style_method_calls
function run(context)
  local rows = query_db{table = "products", columns = {"sku", "name"}, order_by = "sku"}
  if rows.error then error(rows.error) end
  local kinds = {}
  for _, row in ipairs(rows) do
    local kind = row.name:match("^(%a+)"):lower()
    kinds[kind] = (kinds[kind] or 0) + 1
  end
  local keys = list.keys(kinds)
  context.kinds = ("%d kinds: %s"):format(#keys, table.concat(keys, ","))
  return context
end
--- style_early_returns
-- context: {"sku": "SKU-0014"}
function run(context)
  if text.is_blank(context.sku) then
    return {state = "no sku"}
  end
  local rows = query_db{table = "products", where = {sku = context.sku}, columns = {"active", "stock", "reorder_at"}}
  if rows.error then
    return {state = "unknown", why = rows.error}
  end
  if #rows == 0 then return {state = "no such product"} end
  local product = rows[1]
  if not product.active then return {state = "inactive"} end
  if product.stock == 0 then return {state = "sold out"} end
  return {state = product.stock < product.reorder_at and "low" or "fine"}
end
--- style_xpcall
function run(context)
  local ok, answer = xpcall(function()
    local rows = must(query_db{sql = "SELECT avg(price) AS mean FROM products"}, "the mean")
    return math.round(rows[1].mean, 2)
  end, function(problem)
    return "failed: " .. tostring(problem)
  end)
  context.ok = ok
  context.answer = answer
  return context
end
--- style_coroutine
function run(context)
  local rows = must(query_db{sql = "SELECT id, parent_id FROM categories ORDER BY id"}, "categories")
  local function leaves()
    return coroutine.wrap(function()
      for _, row in ipairs(rows) do
        if row.parent_id then coroutine.yield(row.id) end
      end
    end)
  end
  local ids = {}
  for id in leaves() do ids[#ids + 1] = id end
  context.ids = ids
  return context
end
--- style_sort_comparator
function run(context)
  local rows = query_db{sql = "SELECT city, segment, count(*) AS n FROM customers GROUP BY city, segment"}
  if rows.error then error(rows.error) end
  table.sort(rows, function(a, b)
    if a.n ~= b.n then return a.n > b.n end
    if a.city ~= b.city then return a.city < b.city end
    return a.segment < b.segment
  end)
  context.top = list.take(rows, 3)
  return context
end
--- style_constants_in_table
local SETTINGS = {
  database = "shop",
  sql = {
    low = [[SELECT sku FROM products WHERE stock < reorder_at AND active]],
    old = [[SELECT id FROM tickets WHERE closed_on IS NULL AND opened_on < date '2026-06-01']],
  },
}

function run(context)
  for name, sql in pairs(SETTINGS.sql) do
    local rows = query_db{sql = sql, database = SETTINGS.database}
    if rows.error then error(name .. ": " .. rows.error) end
    context[name] = #rows
  end
  return context
end
--- style_string_format_sql
-- context: {"column": "country"}
function run(context)
  local allowed = {country = true, city = true, segment = true}
  local column = allowed[context.column] and context.column or "country"
  local sql = string.format("SELECT %s AS key, count(*) AS n FROM customers GROUP BY %s ORDER BY %s", column, column, column)
  local rows = query_db{sql = sql}
  if rows.error then error(rows.error) end
  for _, row in ipairs(rows) do
    print(row.key .. "\t" .. row.n)
  end
  context.groups = #rows
  return context
end
--- style_goto_free_continue
function run(context)
  local rows = must(query_db{sql = "SELECT id, closed_on, opened_on FROM tickets ORDER BY id"}, "tickets")
  local sum, n = 0, 0
  for _, ticket in ipairs(rows) do
    if ticket.closed_on then
      sum = sum + date.diff(ticket.opened_on, ticket.closed_on, "days")
      n = n + 1
    end
  end
  context.mean = n > 0 and math.round(sum / n, 1) or 0
  return context
end
--- style_comments_in_sql
function run(context)
  local rows = query_db{sql = [[
    -- revenue of the first half, cancelled orders left out
    SELECT round(sum(i.quantity * i.unit_price), 2) AS revenue /* before discounts */
    FROM order_items i
    INNER JOIN orders o ON o.id = i.order_id
    WHERE o.placed_at < timestamptz '2026-07-01 00:00+00'
      AND o.status <> 'cancelled']]}
  if rows.error then error(rows.error) end
  local revenue = rows[1] and rows[1].revenue
  context.revenue = revenue or 0
  return context
end
--- style_nested_functions
function run(context)
  local cache = {}
  local function name_of(category)
    if not cache[category] then
      local rows = query_db{table = "categories", where = {id = category}, columns = {"name"}}
      cache[category] = not rows.error and rows[1] and rows[1].name or "unknown"
    end
    return cache[category]
  end
  local products = must(query_db{table = "products", columns = {"sku", "category_id"}, order_by = "sku", limit = 6}, "products")
  context.names = list.map(products, function(p) return p.sku .. " " .. name_of(p.category_id) end)
  return context
end
--- style_exists_and_any
function run(context)
  local rows = query_db{sql = [[
    SELECT c.id, EXISTS (SELECT 1 FROM tickets t WHERE t.customer_id = c.id) AS complained,
      o.cnt
    FROM customers c
    LEFT JOIN (SELECT customer_id, count(*) AS cnt FROM orders GROUP BY customer_id) o ON o.customer_id = c.id
    WHERE c.country = ANY (ARRAY['DE', 'FR'])
    ORDER BY c.id]]}
  if rows.error then error(rows.error) end
  local quiet = list.filter(rows, function(row) return not row.complained and (row.cnt or 0) > 3 end)
  context.quiet = list.map(quiet, "id")
  return context
end
--- style_json_path
function run(context)
  local rows = must(query_db{sql = [[
    SELECT d.doc->>'sku' AS sku, (d.doc->'money'->>'price')::numeric AS price
    FROM (SELECT jsonb_build_object('sku', sku, 'money', jsonb_build_object('price', price)) AS doc FROM products) AS d
    WHERE d.doc @> '{"sku": "SKU-0007"}'::jsonb]]}, "the product")
  local row = rows[1]
  if not row then return {found = false} end
  return {found = true, sku = row.sku, price = row.price}
end
