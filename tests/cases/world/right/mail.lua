--- mail_reorder_list
function run(context)
  local rows = query_db{sql = "SELECT sku, name, stock FROM products WHERE active AND stock < reorder_at ORDER BY sku"}
  if rows.error then error("the products could not be read: " .. rows.error) end
  local html = transform_data{input = rows, format = "html"}
  if type(html) ~= "string" then error("no table") end
  local sent = send_email{to = "stock@shop.example", subject = "Order again", body = html}
  if sent.error then
    error("the mail could not be sent: " .. sent.error)
  end
  context.answer = #rows
  context.mailed_to = sent.recipients
  return context
end
--- mail_number_of_orders
-- context: {"day": "2026-05-04"}
function run(context)
  local rows = must(query_db{sql = "SELECT count(*) AS n FROM orders WHERE placed_at::date = ?::date", params = {context.day}}, "the count")
  local n = rows[1] and rows[1].n or 0
  local receipt = send_email("orders@shop.example", "Orders of " .. context.day, "There were " .. n .. " orders.\n")
  if receipt.error then error(receipt.error) end
  context.delivered = receipt.delivered
  return context
end
--- mail_csv_attachment
function run(context)
  local rows = must(query_db{sql = [[
    SELECT p.sku, sum(i.quantity) AS units FROM order_items i
    JOIN products p ON p.id = i.product_id GROUP BY p.sku ORDER BY units DESC, p.sku LIMIT 3]]}, "the top three")
  local receipt = send_email{
    to = {"sales@shop.example"},
    cc = {"finance@shop.example"},
    subject = "Top three",
    body = "The three products sold most are attached.",
    attachments = {["top.csv"] = csv.encode(rows, {columns = {"sku", "units"}})},
  }
  if receipt.error then error("not sent: " .. receipt.error) end
  return {sent = receipt.message_id ~= nil, skus = list.pluck(rows, "sku")}
end
--- mail_each_open_ticket
function run(context)
  local rows = query_db{sql = "SELECT DISTINCT ON (c.id) c.email, t.subject FROM tickets t JOIN customers c ON c.id = t.customer_id WHERE t.closed_on IS NULL AND t.priority = 1 ORDER BY c.id, t.opened_on"}
  if rows.error then error(rows.error) end
  local written, failed = {}, {}
  for _, row in ipairs(rows) do
    local receipt = send_email{to = row.email, subject = "Your ticket", body = "We are still at it: " .. row.subject .. "\n"}
    if receipt.error then
      table.insert(failed, row.email)
    else
      table.insert(written, row.email)
    end
  end
  return {written = written, failed = failed}
end
--- mail_by_team
local TEAMS = {
  {address = "support@shop.example", status = "new", title = "New orders"},
  {address = "stock@shop.example", status = "paid", title = "Orders to pack"},
  {address = "orders@shop.example", status = "shipped", title = "Orders on their way"},
}

function run(context)
  local sent = 0
  for _, team in ipairs(TEAMS) do
    local rows = query_db{table = "orders", where = {status = team.status}, columns = {"id"}, order_by = "id"}
    if rows.error then error(team.status .. ": " .. rows.error) end
    if #rows > 0 then
      local receipt = send_email{to = team.address, subject = team.title, body = text.join(list.pluck(rows, "id"), "\n")}
      if receipt.error then error(receipt.error) end
      sent = sent + 1
    end
  end
  context.sent = sent
  return context
end
--- mail_only_when_needed
function run(context)
  local rows = query_db{table = "products", where = "stock = ? AND active", params = {0}, columns = {"sku"}}
  if rows.error then error(rows.error) end
  if #rows == 0 then
    context.mailed = false
    return context
  end
  local receipt = send_email{
    to = "stock@shop.example",
    subject = #rows .. " products sold out",
    body = table.concat(list.pluck(rows, "sku"), "\n"),
  }
  if receipt.error then error(receipt.error) end
  context.mailed = true
  return context
end
--- mail_revenue_report
-- context: {"month": "2026-06-15"}
local function revenue(from, to)
  local rows = must(query_db{
    sql = [[SELECT o.status::text AS status, round(sum(i.quantity * i.unit_price), 2) AS amount
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.placed_at >= $1::timestamptz AND o.placed_at < $2::timestamptz
      GROUP BY o.status ORDER BY o.status]],
    params = {from, to},
  }, "the revenue")
  return rows
end

function run(context)
  local from = date.start_of(context.month, "month")
  local rows = revenue(from, date.add(from, 1, "month"))
  local body = must(transform_data{
    input = {month = date.format(from, "%B %Y"), rows = rows},
    template = "<h1>{{ month }}</h1>\n<ul>{% for r in rows %}<li>{{ r.status }}: {{ r.amount|number(2) }}</li>{% endfor %}</ul>",
    format = "html",
  }, "the report")
  local sent = send_email{to = "finance@shop.example", subject = "Revenue", body = body, html = true}
  return {sent = not sent.error}
end
--- mail_protected
function run(context)
  local ok, receipt = pcall(send_email, "orders@shop.example", "Nightly run", "The nightly run is done.")
  if not ok or receipt.error then
    context.mailed = false
    context.why = ok and receipt.error or "raised"
    return context
  end
  context.mailed = true
  context.size = receipt.size_bytes
  return context
end
--- mail_list_of_addresses
function run(context)
  local to = {"sales@shop.example", "Finance <finance@shop.example>"}
  local rows = query_db{sql = "SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY n DESC"}
  if rows.error then error(rows.error) end
  local lines = {"Orders by status:"}
  for _, row in ipairs(rows) do
    lines[#lines + 1] = "  " .. row.status .. " " .. row.n
  end
  local receipt = send_email{to = to, subject = "Orders by status", body = table.concat(lines, "\n")}
  if receipt.error then error(receipt.error) end
  context.recipients = #receipt.recipients
  return context
end
--- mail_reply_address
-- context: {"order": 7}
function run(context)
  local rows = must(query_db{sql = "SELECT o.id, o.status, c.email, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = $1", params = {context.order}}, "the order")
  local order = rows[1]
  if not order then
    return {mailed = false, why = "no such order"}
  end
  local receipt = send_email{
    to = order.email,
    bcc = "orders@shop.example",
    reply_to = "support@shop.example",
    subject = "Your order " .. order.id,
    body = "Hello " .. order.name .. ",\n\nyour order is " .. order.status .. ".\n",
  }
  if receipt.error then return {mailed = false, why = receipt.error} end
  return {mailed = true, response = receipt.response}
end
--- mail_two_reports
function run(context)
  local data = parallel{
    stock = function() return query_db{table = "products", columns = {"sku", "stock"}, order_by = "sku"} end,
    orders = function() return query_db{sql = "SELECT id, placed_at FROM orders WHERE status = 'new' ORDER BY id"} end,
  }
  local stock = must(data.stock, "the stock")
  local orders = must(data.orders, "the orders")
  local first = send_email{to = "stock@shop.example", subject = "Stock", body = csv.encode(stock)}
  local second = send_email{to = "orders@shop.example", subject = "New orders", body = csv.encode(orders)}
  context.failed = {}
  for _, receipt in ipairs{first, second} do
    if receipt.error then table.insert(context.failed, receipt.error) end
  end
  return context
end
--- mail_named_template
function run(context)
  local rows = query_db{table = "customers", where = {segment = "business"}, columns = {"name", "city"}, order_by = "name", limit = 10}
  if rows.error then error(rows.error) end
  local body = transform_data(rows, "summary_email", "html")
  if type(body) ~= "string" then
    error("the summary could not be written: " .. body.error)
  end
  local receipt = send_email{to = "sales@shop.example", subject = "Business customers", body = body}
  if receipt.error then error(receipt.error) end
  context.rows = #rows
  return context
end
--- mail_return_reasons
function run(context)
  local rows = must(query_db{sql = "SELECT reason, count(*) AS n FROM returns WHERE returned_on >= date '2026-06-01' GROUP BY reason ORDER BY reason"}, "the returns")
  local total = list.sum_by(rows, "n")
  local to = total > 5 and "support@shop.example" or "orders@shop.example"
  local text_of = "Returns since June: " .. total .. "\n"
  for _, row in ipairs(rows) do
    text_of = text_of .. row.reason .. ": " .. row.n .. "\n"
  end
  local receipt = send_email(to, "Returns", text_of)
  if receipt.error then error(receipt.error) end
  context.to, context.total = to, total
  return context
end
--- mail_attachment_list
function run(context)
  local rows = must(query_db{table = "payments", columns = {"id", "method", "amount_cents"}, order_by = "id", limit = 20}, "payments")
  local receipt = send_email{
    to = "finance@shop.example",
    subject = "Payments",
    body = "Two files are attached.",
    attachments = {
      {name = "payments.csv", content = csv.encode(rows), content_type = "text/csv"},
      {name = "payments.json", content = json.encode(rows, {indent = 2}), content_type = "application/json"},
    },
  }
  if receipt.error then error(receipt.error) end
  return {bytes = receipt.size_bytes}
end
--- mail_terms
function run(context)
  local terms = fetch_url{urls = "https://files.shop.example/terms.txt", detail = true}
  if terms.error then error("the terms could not be fetched: " .. terms.error) end
  local receipt = send_email{
    to = "customer8@example.com",
    subject = "Our terms",
    body = "Our terms are attached.",
    attachments = {["terms.txt"] = terms.body},
  }
  if receipt.error then error(receipt.error) end
  context.kind = terms.content_type
  context.sent = receipt.delivered
  return context
end
--- mail_overdue_tickets
-- context: {"today": "2026-10-01"}
local LIMITS = {1, 3, 7, 30}

function run(context)
  local tickets = must(query_db{sql = "SELECT id, priority, subject, opened_on FROM tickets WHERE closed_on IS NULL ORDER BY priority, opened_on"}, "tickets")
  local late = list.filter(tickets, function(ticket)
    return date.diff(ticket.opened_on, context.today) > LIMITS[ticket.priority]
  end)
  context.late = #late
  if #late > 0 then
    local body = must(transform_data(late, "id,subject,opened_on", "csv"), "the list")
    local receipt = send_email{to = "support@shop.example", subject = "Late tickets", body = body, html = false}
    if receipt.error then error(receipt.error) end
  end
  return context
end
--- mail_at_most_three_times
function run(context)
  local receipt
  for attempt = 1, 3 do
    receipt = send_email("orders@shop.example", "Orders checked", "All orders were checked.")
    if not receipt.error then
      context.attempts = attempt
      return context
    end
    sleep(30)
  end
  error("three attempts failed: " .. receipt.error)
end
--- mail_newsletter_batch
function run(context)
  local rows = query_db{table = "customers", where = {newsletter = true, country = "IT"}, columns = {"email"}, order_by = "email"}
  if rows.error then error(rows.error) end
  local groups = list.chunk(list.pluck(rows, "email"), 10)
  local sent = 0
  for _, group in ipairs(groups) do
    local receipt = send_email{to = "sales@shop.example", bcc = group, subject = "News", body = "There are new plants in the shop."}
    if receipt.error then error(receipt.error) end
    sent = sent + #group
  end
  context.sent = sent
  return context
end
--- mail_from_table
local RECIPIENTS = {DE = "customer1@example.com", FR = "customer2@example.com", other = "sales@shop.example"}

function run(context)
  local rows = must(query_db{sql = "SELECT country, count(*) AS n FROM customers GROUP BY country ORDER BY country"}, "countries")
  local counts = {}
  for _, row in ipairs(rows) do
    local to = RECIPIENTS[row.country] or RECIPIENTS.other
    counts[to] = (counts[to] or 0) + row.n
  end
  for _, to in ipairs(list.keys(counts)) do
    local receipt = send_email(to, "Customers", "Customers in your countries: " .. counts[to])
    if receipt.error then error(to .. ": " .. receipt.error) end
  end
  return {counts = counts}
end
--- mail_html_by_hand
function run(context)
  local rows = query_db{table = "products", where = "price > $1", params = {80}, columns = {"name", "price"}, order_by = "price DESC"}
  if rows.error then error(rows.error) end
  local parts = {"<table>"}
  for _, row in ipairs(rows) do
    parts[#parts + 1] = "<tr><td>" .. text.escape_html(row.name) .. "</td><td>" .. text.number(row.price, 2) .. "</td></tr>"
  end
  parts[#parts + 1] = "</table>"
  local receipt = send_email{to = "sales@shop.example", subject = "Dear products", body = table.concat(parts, "\n")}
  if receipt.error then error(receipt.error) end
  context.n = #rows
  return context
end
