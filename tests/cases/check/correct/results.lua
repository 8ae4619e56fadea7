--# fields of a closed result
function run(context)
  local customer = crm.find_customer{id = 12}
  if customer.error then return {error = customer.error, code = customer.code} end
  return {
    name = customer.name,
    where = customer.address.city .. ", " .. customer.address.country,
    street = customer.address.street or "unknown",
    tier = customer.tier or "basic",
  }
end

--# a list of closed rows
function run(context)
  local orders = crm.list_orders{customer_id = 3, status = "paid", limit = 5}
  if orders.error then return {error = orders.error} end
  local total, notes = 0, {}
  for _, order in ipairs(orders) do
    total = total + order.total
    if order.note then notes[#notes + 1] = order.id .. ": " .. order.note end
  end
  return {total = total, notes = notes, newest = orders[1] and orders[1].id}
end

--# optional number of a result
function run(context)
  local weather = get_weather{city = "Bergen", days = 2}
  if weather.error then return {error = weather.error} end
  local wind = weather.wind or 0
  local wet = {}
  for _, day in ipairs(weather.forecast) do
    if day.rain then table.insert(wet, day.date) end
  end
  return {windy = wind > 10, wet = wet, low = weather.forecast[1].low}
end

--# a ticket per row
function run(context)
  local rows = query_db{table = "incidents", where = "ticket IS NULL", limit = 10}
  if rows.error then return {error = rows.error} end
  local ids = {}
  for _, row in ipairs(rows) do
    local ticket = create_ticket{
      title = row.title or "Incident",
      priority = row.severity == 1 and "urgent" or "normal",
      labels = {"incident", tostring(row.service)},
    }
    if ticket.error then
      ids[#ids + 1] = ticket.error
    else
      ids[#ids + 1] = ticket.id
    end
  end
  return {tickets = ids}
end

--# an assignee that may be null
function run(context)
  local ticket = create_ticket("Printer", "low", "It prints green.")
  if ticket.error then return {error = ticket.error} end
  local who = ticket.assignee
  if who then
    return {text = "given to " .. who}
  end
  return {text = "nobody has it yet", url = ticket.url}
end

--# priority chosen from a table
local PRIORITY = {p1 = "urgent", p2 = "high", p3 = "normal"}

function run(context)
  local ticket = create_ticket{title = "Disk full", priority = PRIORITY[context.level] or "low"}
  return {id = not ticket.error and ticket.id or nil}
end

--# priority chosen by branches
function run(context)
  local priority
  if context.users and context.users > 100 then
    priority = "urgent"
  elseif context.users and context.users > 10 then
    priority = "high"
  else
    priority = "normal"
  end
  local ticket = create_ticket{title = "Login fails", priority = priority}
  return {url = ticket.error or ticket.url}
end

--# stock from arithmetic
function run(context)
  local rows = query_db{table = "stock", where = "article = ?", params = {"A-7"}}
  if rows.error or #rows == 0 then return {error = rows.error or "no article"} end
  local pieces = math.floor(rows[1].pieces * 0.9)
  local done = set_stock("A-7", pieces)
  return {ok = not done.error, now = pieces}
end

--# stock from integer division
function run(context)
  local boxes, per_box = 7, 12
  local total = boxes * per_box
  local half = total // 2
  local done = set_stock{article = "B-2", pieces = half, urgent = half < 10}
  if done.error then return {error = done.error} end
  return done
end

--# query results are open
function run(context)
  local rows = query_db{sql = "SELECT a, b AS total, c FROM t"}
  if rows.error then return {error = rows.error} end
  local first = rows[1]
  return {a = first and first.a, total = first and first.total, anything = first and first.anything}
end

--# detail of a fetch
function run(context)
  local page = fetch_url{urls = "https://example.com", detail = true, headers = {Accept = "text/html"}}
  if page.error then return {error = page.error} end
  return {status = page.status, length = #page.body, type = page.headers["content-type"]}
end

--# json from a page
function run(context)
  local body = fetch_url("https://example.com/api/items.json")
  if type(body) ~= "string" then return {error = body.error} end
  local data = json.decode(body)
  local names = {}
  for _, item in ipairs(data.items or {}) do
    names[#names + 1] = item.name
  end
  return {names = names, next_page = data.next and data.next.href}
end

--# json from a model
function run(context)
  local answer = call_llm{prompt = "Three colours as a JSON list", format = "json", max_tokens = 100}
  if type(answer) ~= "string" then return {error = answer.error} end
  local ok, colours = pcall(json.decode, answer)
  if not ok then return {error = "no json"} end
  return {first = colours[1], all = colours}
end

--# a result passed through
function run(context)
  return crm.find_customer{email = "ada@example.com"}
end

--# a customer's orders
function run(context)
  local customer = crm.find_customer{email = context.email or "a@example.com"}
  if customer.error then return {error = customer.error} end
  local orders = crm.list_orders(customer.id, "open")
  if orders.error then return {error = orders.error} end
  if #orders == 0 then return {name = customer.name, orders = 0} end
  local lines = {}
  for i = 1, math.min(3, #orders) do
    lines[i] = string.format("#%d %.2f (%s)", orders[i].id, orders[i].total, orders[i].status)
  end
  return {name = customer.name, text = table.concat(lines, "\n")}
end

--# tier compared
function run(context)
  local customer = crm.find_customer{id = 5}
  if customer.error then return {error = customer.error} end
  if customer.tier == "premium" then
    local ticket = create_ticket{title = "Call " .. customer.name, priority = "high"}
    return {ticket = ticket.id or ticket.error}
  end
  return {tier = customer.tier}
end

--# sorted rows
function run(context)
  local orders = crm.list_orders{customer_id = 9}
  if orders.error then return {error = orders.error} end
  table.sort(orders, function(a, b) return a.total > b.total end)
  local top = list.take(orders, 3)
  return {top = list.pluck(top, "id")}
end

--# a failure handed back whole
function run(context)
  local weather = get_weather("Nowhere")
  if weather.error then
    context.weather = {ok = false, code = weather.code, retryable = weather.retryable}
    return context
  end
  context.weather = {ok = true, temperature = weather.temperature}
  return context
end

--# an answer that follows its schema
function run(context)
  local answer = call_llm{
    prompt = "Which team is it for?",
    data = context.name,
    schema = {
      type = "object",
      properties = {team = {type = "string", enum = {"billing", "support"}}, why = {type = "string"}, score = {type = "number"}},
      required = {"team", "score"},
    },
  }
  if answer.error then return {team = "support", reason = answer.error} end
  return {team = answer.team, sure = answer.score > 0.5, why = "because " .. (answer.why or "of nothing")}
end

--# a list that follows its schema
function run(context)
  local names = must(call_llm{prompt = "Name three colours.", schema = {type = "array", items = {type = "string"}}}, "colours")
  return {names = table.concat(names, ", "), first = names[1]:upper(), count = #names}
end

--# a schema that is a variable
function run(context)
  local schema = {type = "object", properties = {total = {type = "number"}}, required = {"total"}}
  local answer = call_llm{prompt = "Add them up.", data = {1, 2}, schema = schema}
  if answer.error then error(answer.error) end
  return {total = answer.total + 1}
end

--# a schema behind a protected call
function run(context)
  local ok, answer = pcall(call_llm, {prompt = "Add.", schema = {type = "object", properties = {n = {type = "integer"}}, required = {"n"}}})
  if not ok or answer.error then return {failed = true} end
  return {n = answer.n + 1}
end

--# an answer without a schema stays a text
function run(context)
  local said = call_llm{prompt = "Say it.", schema = nil}
  if type(said) ~= "string" then return {error = said.error} end
  return {said = said:lower() .. "!", words = text.words(said)}
end
