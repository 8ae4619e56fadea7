--# a number in a variable for text
function run(context)
  local subject = 12
  local receipt = send_email("a@example.com", subject, "x") --! plan_bad_argument
  return {ok = not receipt.error}
end

--# text in a variable for a number
function run(context)
  local limit = "ten"
  local rows = query_db{table = "users", limit = limit} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a table in a variable for text
function run(context)
  local lines = {"a", "b"}
  local receipt = send_email("a@example.com", "Lines", lines) --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a joined text for a number
function run(context)
  local pieces = "1" .. "2"
  local done = set_stock("A", pieces) --! plan_bad_argument
  return {ok = not done.error}
end

--# a comparison for text
function run(context)
  local a, b = 1, 2
  local answer = call_llm(a < b) --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# a length for text
function run(context)
  local rows = {1, 2, 3}
  local receipt = send_email("a@example.com", #rows, "x") --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a bad enum in a variable
function run(context)
  local priority = "critical"
  local ticket = create_ticket{title = "Down", priority = priority} --! plan_bad_argument
  return {ok = not ticket.error}
end

--# every branch gives a bad enum
function run(context)
  local units = context.us and "fahrenheit" or "celsius"
  local weather = get_weather{city = "Oslo", units = units} --! plan_bad_argument
  return {ok = not weather.error}
end

--# a misspelt name in a table built before
function run(context)
  local params = {tabel = "users"}
  params.limit = 5
  local rows = query_db(params) --! plan_bad_argument
  return {ok = not rows.error}
end

--# a misspelt name put in later
function run(context)
  local mail = {to = "a@example.com", subject = "Hi"}
  mail.boddy = "x"
  local receipt = send_email(mail) --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a name is missing in a table built before
function run(context)
  local mail = {to = "a@example.com", body = "x"}
  local receipt = send_email(mail) --! plan_bad_argument
  return {ok = not receipt.error}
end

--# the result of a library function of the wrong kind
function run(context)
  local words = text.split("a,b,c", ",")
  local receipt = send_email("a@example.com", words, "x") --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a count for text
function run(context)
  local n = list.count({1, 2, 3})
  local weather = get_weather(n) --! plan_bad_argument
  return {ok = not weather.error}
end

--# a formatted text for a whole number
function run(context)
  local amount = string.format("%.2f", 12.5)
  local rows = query_db{table = "users", limit = amount} --! plan_bad_argument
  return {ok = not rows.error}
end

--# the rows themselves as body
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  local receipt = send_email("a@example.com", "Orders", orders) --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a whole result for one of its fields
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local orders = crm.list_orders{customer_id = customer} --! plan_bad_argument
  return {ok = not orders.error}
end

--# a text field of a result for a number
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local orders = crm.list_orders{customer_id = customer.name} --! plan_bad_argument
  return {ok = not orders.error}
end

--# a number field of a result for text
function run(context)
  local ticket = create_ticket{title = "T", priority = "low"}
  if ticket.error then return {error = ticket.error} end
  local receipt = send_email("a@example.com", "Ticket", ticket.id) --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a nested table for text
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local weather = get_weather{city = customer.address} --! plan_bad_argument
  return {ok = not weather.error}
end

--# a context field of the wrong kind
--# context: {"limit": "5"}
function run(context)
  local rows = query_db{table = "users", limit = context.limit} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a list of the context for text
--# context: {"cities": ["Oslo", "Rome"]}
function run(context)
  local weather = get_weather{city = context.cities} --! plan_bad_argument
  return {ok = not weather.error}
end

--# an object of the context for text
--# context: {"mail": {"to": "a@example.com"}}
function run(context)
  local receipt = send_email(context.mail, "Hi", "x") --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a number of the context in a loop
--# context: {"ids": [1, 2]}
function run(context)
  local found = {}
  for i, id in ipairs(context.ids) do
    local customer = crm.find_customer{email = id} --! plan_bad_argument
    found[i] = customer.error or customer.name
  end
  return found
end

--# a tool under another name
function run(context)
  local ask = query_db
  local rows = ask{tabel = "users"} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a tool in a table
local tools = {mail = send_email}

function run(context)
  local receipt = tools.mail{to = "a@example.com", subject = 5, body = "x"} --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a helper that gives the wrong kind
local function title()
  return {"A", "B"}
end

function run(context)
  local ticket = create_ticket{title = title(), priority = "low"} --! plan_bad_argument
  return {ok = not ticket.error}
end

--# a date part for text
function run(context)
  local parts = date.parts("2025-06-15")
  local weather = get_weather(parts.month) --! plan_bad_argument
  return {ok = not weather.error}
end

--# attachments that are text
function run(context)
  local data = csv.encode({{a = 1}})
  local receipt = send_email("a@example.com", "Data", "See there", data) --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a mean for a whole text
function run(context)
  local mean = math.floor(12.7)
  local answer = call_llm{prompt = mean} --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# negation for text
function run(context)
  local receipt = send_email("a@example.com", not context.x, "x") --! plan_bad_argument
  return {ok = not receipt.error}
end
