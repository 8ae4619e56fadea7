--- orders_page_by_page
function run(context)
  local size, after, total = 40, 0, 0
  for _ = 1, 20 do
    local rows = query_db{sql = "SELECT id, shipping FROM orders WHERE id > ? ORDER BY id LIMIT ?", params = {after, size}}
    if rows.error then error("page after " .. after .. ": " .. rows.error) end
    for _, row in ipairs(rows) do
      total = total + row.shipping
      after = row.id
    end
    if #rows < size then
      break
    end
  end
  context.shipping = math.round(total, 2)
  return context
end
--- events_of_all_pages
function run(context)
  local hours, page = {}, 1
  while page and page <= 50 do
    local body = must(fetch_url("https://api.shop.example:8443/events?page=" .. page), "page " .. page)
    local document = json.decode(body)
    for _, item in ipairs(document.items) do
      hours[item.room] = (hours[item.room] or 0) + item.hours
    end
    page = document.next
  end
  context.hours = hours
  return context
end
--- offset_pages
function run(context)
  local seen = 0
  local offset = 0
  repeat
    local rows = must(query_db{sql = "SELECT order_id, line FROM order_items ORDER BY order_id, line LIMIT 100 OFFSET $1", params = {offset}}, "lines")
    seen = seen + #rows
    offset = offset + 100
  until #rows < 100 or offset > 5000
  context.lines = seen
  return context
end
--- pages_by_key_pair
function run(context)
  local order, line, pages = 0, 0, 0
  while pages < 30 do
    local rows = query_db{
      sql = "SELECT order_id, line, quantity FROM order_items WHERE (order_id, line) > ($1::int, $2::int) ORDER BY order_id, line LIMIT 60",
      params = {order, line},
    }
    if rows.error then error(rows.error) end
    pages = pages + 1
    local last = rows[#rows]
    if last == nil then break end
    order, line = last.order_id, last.line
  end
  context.pages = pages
  return context
end
--- months_in_parallel
-- context: {"year": 2026}
function run(context)
  local jobs = {}
  for month = 1, 6 do
    jobs[month] = function()
      return query_db{
        sql = "SELECT count(*) AS n FROM orders WHERE extract(year FROM placed_at) = $1 AND extract(month FROM placed_at) = $2",
        params = {context.year, month},
      }
    end
  end
  local counts = {}
  for month, rows in ipairs(parallel(jobs)) do
    if rows.error then error(rows.error) end
    counts[month] = rows[1] and rows[1].n or 0
  end
  context.counts = counts
  return context
end
--- customers_in_chunks
function run(context)
  local people = must(query_db{table = "customers", columns = {"id"}, order_by = "id"}, "customers")
  local spent = 0
  for _, chunk in ipairs(list.chunk(list.pluck(people, "id"), 15)) do
    local rows = query_db{sql = "SELECT coalesce(sum(p.amount_cents), 0) AS cents FROM payments p JOIN orders o ON o.id = p.order_id WHERE o.customer_id IN (?)", params = {chunk}}
    if rows.error then error(rows.error) end
    spent = spent + (rows[1] and rows[1].cents or 0)
  end
  context.euros = spent / 100
  return context
end
--- retry_then_give_up
function run(context)
  local rows = retry(3, function()
    return query_db{sql = "SELECT status, count(*) AS n FROM orders GROUP BY status"}
  end)
  if rows.error then
    context.note = "no data: " .. rows.error
    return context
  end
  local parts = {}
  for _, row in ipairs(rows) do parts[#parts + 1] = row.status .. "=" .. row.n end
  context.note = table.concat(list.sort(parts), " ")
  return context
end
--- protected_steps
local function step(name, work)
  local ok, answer = pcall(work)
  if ok then return {name = name, value = answer} end
  return {name = name, failed = tostring(answer)}
end

function run(context)
  context.steps = {
    step("orders", function() return #must(query_db{sql = "SELECT id FROM orders WHERE status = 'paid'"}, "orders") end),
    step("tickets", function() return #must(query_db{table = "tickets", columns = {"id"}}, "tickets") end),
    step("returns", function() return #must(query_db{table = "returns", columns = {"id"}}, "returns") end),
  }
  return context
end
--- table_of_queries
local QUERIES = {
  customers = "SELECT count(*) AS n FROM customers",
  products = "SELECT count(*) AS n FROM products WHERE active",
  orders = "SELECT count(*) AS n FROM orders WHERE status <> 'cancelled'",
}

function run(context)
  local counts = {}
  for _, name in ipairs(list.keys(QUERIES)) do
    local rows = query_db{sql = QUERIES[name]}
    if rows.error then error(name .. ": " .. rows.error) end
    counts[name] = rows[1] and rows[1].n
  end
  context.counts = counts
  return context
end
--- optional_conditions
-- context: {"country": "DE", "segment": "business"}
function run(context)
  local conditions, values = {"newsletter"}, {}
  for _, field in ipairs{"country", "segment"} do
    if context[field] then
      table.insert(conditions, field .. " = ?")
      table.insert(values, context[field])
    end
  end
  local sql = "SELECT id FROM customers WHERE " .. table.concat(conditions, " AND ") .. " ORDER BY id"
  local rows = query_db{sql = sql, params = values}
  if rows.error then error(rows.error) end
  context.ids = list.pluck(rows, "id")
  return context
end
--- until_enough_units
-- context: {"units": 60}
function run(context)
  local rows = must(query_db{sql = "SELECT p.sku, p.stock FROM products AS p ORDER BY p.stock DESC, p.sku"}, "stock")
  local taken, units = {}, 0
  for _, row in ipairs(rows) do
    if units >= context.units then break end
    units = units + row.stock
    taken[#taken + 1] = row.sku
  end
  context.taken, context.total = taken, units
  return context
end
--- waits_between_pages
function run(context)
  local names = {}
  for id = 1, 2 do
    local body = fetch_url("https://api.shop.example:8443/suppliers/" .. id)
    if type(body) ~= "string" then
      error("supplier " .. id .. ": " .. body.error)
    end
    names[id] = json.decode(body).name
    local rest = sleep(2)
    if rest.error then error(rest.error) end
    context.last = rest.woke_at ~= nil
  end
  context.names = names
  return context
end
