--# weather and what to wear
function run(context)
  local weather = get_weather{city = context.city or "Oslo", units = "metric", days = 2}
  if weather.error then return {error = weather.error} end
  local coldest = weather.temperature
  local wet = false
  for _, day in ipairs(weather.forecast) do
    coldest = math.min(coldest, day.low)
    wet = wet or day.rain == true
  end
  local advice = coldest < 0 and "warm coat" or "jacket"
  if wet then advice = advice .. " and umbrella" end
  return {advice = advice, wind = weather.wind or "calm"}
end

--# a ticket with a priority worked out
function run(context)
  local rows = query_db{table = "products", where = "stock = ?", params = {0}}
  if rows.error then return {error = rows.error} end
  if #rows == 0 then return {tickets = 0} end
  local priority = #rows > 5 and "urgent" or "normal"
  local ticket = create_ticket{
    title = #rows .. " products out of stock",
    priority = priority,
    labels = {"stock", "automatic"},
  }
  if ticket.error then return {error = ticket.error} end
  return {id = ticket.id, url = ticket.url, assignee = ticket.assignee or "unassigned"}
end

--# stock set for one article
function run(context)
  local wanted = math.tointeger(context.pieces or 500)
  if not wanted then return {error = "pieces must be whole"} end
  local done = set_stock{article = "nail", pieces = wanted}
  if done.error then return {error = done.error} end
  return {article = done.article, pieces = done.pieces}
end

--# a model's answer as JSON
function run(context)
  local answer = call_llm{prompt = "Judge: I like it", format = "json"}
  if answer.error then return {error = answer.error} end
  local verdict = json.decode(answer)
  if type(verdict) ~= "table" or verdict.score == nil then
    return {error = "unexpected answer"}
  end
  return {sentiment = verdict.sentiment, sure = verdict.score > 0.8, topics = verdict.topics or {}}
end

--# a prompt made of rows
function run(context)
  local tickets = query_db{table = "tickets", where = {status = "open"}}
  if tickets.error then return {error = tickets.error} end
  local lines = {}
  for i = 1, math.min(#tickets, 5) do
    lines[#lines + 1] = ("%d: %s (%s)"):format(tickets[i].id, tickets[i].title, tickets[i].priority)
  end
  local prompt = "Summarise these tickets in one sentence:\n" .. table.concat(lines, "\n")
  local summary = call_llm(prompt)
  if summary.error then return {error = summary.error} end
  return {summary = text.trim(summary), n = #lines}
end

--# a table turned into HTML and mailed
function run(context)
  local rows = query_db{table = "orders", order_by = "total DESC", limit = 10}
  if rows.error then return {error = rows.error} end
  local html = transform_data(rows, "summary_email", "html")
  if html.error then return {error = html.error} end
  local receipt = send_email("ops@example.com", "Top orders", html)
  if receipt.error then return {error = receipt.error} end
  return {to = receipt.recipients[1]}
end

--# a template written in the plan
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  local list_text = transform_data(users, "{% for r in rows %}- {{ r.name }}\n{% endfor %}", "text")
  if list_text.error then return {error = list_text.error} end
  return {body = list_text}
end

--# details of an answer
function run(context)
  local page = fetch_url{urls = "https://example.com/page", detail = true}
  if page.error then return {error = page.error} end
  return {status = page.status, kind = page.content_type, etag = page.headers.etag, size = #page.body}
end

--# the same table twice, by names and by position
function run(context)
  local by_name = query_db{table = "users", columns = {"id"}, limit = 3}
  local by_place = query_db("users")
  if by_name.error then return {error = by_name.error} end
  if by_place.error then return {error = by_place.error} end
  return {same = #by_name == #by_place}
end

--# arguments put together first
function run(context)
  local query = {table = "orders", limit = 50}
  if context.status then
    query.where = "status = ?"
    query.params = {context.status}
  end
  if context.newest then query.order_by = "created_at DESC" end
  local rows = query_db(query)
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# a mail with copies
function run(context)
  local receipt = send_email{
    to = {"ops@example.com", "lead@example.com"},
    cc = "team@example.com",
    subject = "Weekly",
    body = "All is well.",
  }
  if receipt.error then return {sent = false, why = receipt.error} end
  return {sent = receipt.delivered, copies = #receipt.recipients}
end

--# mails to a few people, counted
function run(context)
  local sent, failed = 0, 0
  for _, to in ipairs({"a@example.com", "b@example.com"}) do
    local receipt = send_email(to, "Hello", "Good morning.")
    if receipt.error then failed = failed + 1 else sent = sent + 1 end
  end
  return {sent = sent, failed = failed}
end

--# a customer by address, and the value of the orders
function run(context)
  local customer = crm.find_customer{email = context.email or "ada@example.com"}
  if customer.error then return {error = customer.error} end
  local orders = crm.list_orders{customer_id = customer.id, status = "paid"}
  if orders.error then return {error = orders.error} end
  local value = 0
  for _, order in ipairs(orders) do value = value + order.total end
  local is_good = customer.tier == "premium" or value > 50
  return {name = customer.name, value = value, is_good = is_good}
end

--# tools kept under short names
local q = query_db
local mail = send_email

function run(context)
  local rows = q{table = "users", limit = 1}
  if rows.error then return {error = rows.error} end
  local receipt = mail("ops@example.com", "One", rows[1] and rows[1].name or "none")
  if receipt.error then return {error = receipt.error} end
  return {ok = true}
end

--# a wrapper with defaults
local function find(table_name, where, options)
  options = options or {}
  return query_db{
    table = table_name,
    where = where,
    limit = options.limit or 100,
    order_by = options.order_by,
  }
end

function run(context)
  local open = find("tickets", {status = "open"}, {order_by = "opened_at"})
  if open.error then return {error = open.error} end
  return {first = open[1] and open[1].title}
end

--# rows saved as the result for the next run
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local last = context.last_id or 0
  local fresh = {}
  for _, row in ipairs(rows) do
    if row.id > last then fresh[#fresh + 1] = row end
  end
  local newest = last
  for _, row in ipairs(fresh) do newest = math.max(newest, row.id) end
  return {last_id = newest, fresh = #fresh}
end

--# SQL with grouping
function run(context)
  local rows = query_db{sql = "SELECT city, count(*) AS n, sum(total) AS total FROM orders GROUP BY city"}
  if rows.error then return {error = rows.error} end
  local totals = {}
  for _, row in ipairs(rows) do
    if row.city then totals[row.city] = {n = row.n, total = row.total} end
  end
  local oslo = totals.Oslo
  return {oslo = oslo and oslo.total or 0}
end

--# parameters of SQL from the context
--# context: {"min": 20, "status": "paid"}
function run(context)
  local rows = query_db{
    sql = "SELECT city, n, total FROM orders WHERE total >= :min AND status = :status",
    params = {min = context.min, status = context.status},
  }
  if rows.error then return {error = rows.error} end
  return {cities = list.pluck(rows, "city")}
end

--# pages in a batch, searched
function run(context)
  local pages = fetch_url({"https://example.com/a", "https://example.com/b"}, true)
  if pages.error then return {error = pages.error} end
  local hits = {}
  for url, body in pairs(pages) do
    if not body.error and text.contains(body, "nail") then
      hits[#hits + 1] = url
    end
  end
  return {hits = hits}
end

--# a comparison of two sources side by side
function run(context)
  local got = parallel{
    weather = function() return get_weather("Oslo") end,
    customer = function() return crm.find_customer{id = 7} end,
    orders = function() return crm.list_orders{customer_id = 7} end,
  }
  for name, result in pairs(got) do
    if result.error then return {failed = name, why = result.error} end
  end
  return {
    city = got.customer.address.city,
    temperature = got.weather.temperature,
    open = list.count(got.orders, {status = "open"}),
  }
end

--# models asked side by side
function run(context)
  local questions = {"What is new?", "What is old?"}
  local branches = list.map(questions, function(question)
    return function() return call_llm(question) end
  end)
  local answers = parallel(branches)
  local out = {}
  for i, answer in ipairs(answers) do
    out[i] = answer.error and "failed" or text.lines(answer)[1]
  end
  return out
end

--# a ticket for each open one, by hand for two
function run(context)
  local first = create_ticket{title = "First", priority = "low"}
  if first.error then return {error = first.error} end
  local second = create_ticket{title = "Second", priority = "high", body = "After " .. first.url}
  if second.error then return {error = second.error, first = first.id} end
  return {ids = {first.id, second.id}}
end

--# what is in stock and what must be ordered
function run(context)
  local products = query_db{table = "products"}
  if products.error then return {error = products.error} end
  local minimum = {["small parts"] = 500, tools = 5}
  local wanted = {}
  for _, product in ipairs(products) do
    local least = minimum[product.category] or 1
    if product.stock < least then
      wanted[#wanted + 1] = {name = product.name, pieces = least - product.stock}
    end
  end
  table.sort(wanted, function(a, b) return a.pieces > b.pieces end)
  return {wanted = wanted}
end

--# a short sleep between two looks
function run(context)
  local before = query_db{table = "events"}
  if before.error then return {error = before.error} end
  local after = query_db{table = "events"}
  if after.error then return {error = after.error} end
  local grown = #after - #before
  print("events grew by " .. grown)
  return {grown = grown}
end

--# who to tell depends on the day
function run(context)
  local day = context.day or "2026-03-07"
  local to = date.weekday(day) >= 6 and "weekend@example.com" or "week@example.com"
  local receipt = send_email(to, "Report of " .. day, "Nothing to report.")
  if receipt.error then return {error = receipt.error} end
  return {to = to, bytes = receipt.size_bytes}
end
