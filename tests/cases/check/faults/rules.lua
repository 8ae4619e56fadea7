--# a mail nobody looks at
function run(context)
  send_email("a@example.com", "Hi", "x") --? plan_result_unused
  return context
end

--# a ticket nobody looks at
function run(context)
  local ticket = create_ticket{title = "T", priority = "low"} --? plan_result_unused
  return context
end

--# a query nobody looks at
function run(context)
  local rows = query_db{table = "users"} --? plan_result_unused
  local n = 3
  return {n = n}
end

--# a call as statement in a loop
function run(context)
  for i = 1, 3 do
    set_stock("A" .. i, i) --? plan_result_unused
  end
  return context
end

--# a mail for ever
function run(context)
  while true do
    local receipt = send_email("a@example.com", "Hi", "x") --! plan_write_in_unbounded_loop
    context.last = receipt.error
  end
end

--# a ticket until false
function run(context)
  repeat
    local ticket = create_ticket{title = "T", priority = "low"} --! plan_write_in_unbounded_loop
    context.error = ticket.error
  until false
end

--# a mail until it works
function run(context)
  local receipt
  repeat
    receipt = send_email("a@example.com", "Hi", "x") --? plan_write_in_unbounded_loop
  until not receipt.error
  return {ok = true}
end

--# tickets while there is something in a queue
function run(context)
  local queue = {"a", "b"}
  while #queue > 0 do
    local title = table.remove(queue)
    local ticket = create_ticket{title = title, priority = "low"} --? plan_write_in_unbounded_loop
    if ticket.error then queue[#queue + 1] = title end
  end
  return context
end

--# money for ever
function run(context)
  while 1 do
    local answer = call_llm("More?") --! plan_write_in_unbounded_loop
    context.answer = type(answer) == "string" and answer or nil
  end
end

--# a mail in a loop that a break leaves
function run(context)
  while true do
    local receipt = send_email("a@example.com", "Hi", "x") --? plan_write_in_unbounded_loop
    if not receipt.error then break end
  end
  return context
end

--# a mail in a for inside an endless loop
function run(context)
  while true do
    for i = 1, 3 do
      local done = set_stock("A", i) --! plan_write_in_unbounded_loop
      context.error = done.error
    end
  end
end

--# a page a turn
function run(context)
  local bodies = {}
  for i, url in ipairs({"https://example.com/1", "https://example.com/2"}) do
    local body = fetch_url(url) --? plan_call_in_loop
    bodies[i] = type(body) == "string" and #body or 0
  end
  return bodies
end

--# a customer a turn
function run(context)
  local names = {}
  for i, id in ipairs({1, 2, 3}) do
    local customer = crm.find_customer{id = id} --? plan_call_in_loop
    names[i] = customer.error or customer.name
  end
  return names
end

--# a query a turn
function run(context)
  local counts = {}
  for _, name in ipairs({"users", "orders"}) do
    local rows = query_db{table = name} --? plan_call_in_loop
    counts[name] = rows.error and 0 or #rows
  end
  return counts
end

--# weather a turn with continue
function run(context)
  local warm = {}
  for _, city in ipairs({"Oslo", "Rome"}) do
    local weather = get_weather(city) --? plan_call_in_loop
    if weather.error then goto continue end
    warm[city] = weather.temperature > 20
    ::continue::
  end
  return warm
end

--# behind error
function run(context)
  error("not yet")
  context.done = true --? plan_unreachable
  return context
end

--# behind a return in do
function run(context)
  do return context end
  context.done = true --? plan_unreachable
end

--# behind break
function run(context)
  for i = 1, 3 do
    break
    context.i = i --? plan_unreachable
  end
  return context
end

--# behind goto
function run(context)
  for i = 1, 3 do
    if i == 2 then
      goto continue
      context.i = i --? plan_unreachable
    end
    ::continue::
  end
  return context
end

--# behind branches that all return
function run(context)
  if context.a then
    return 1
  else
    return 2
  end
  return 3 --? plan_unreachable
end

--# behind a loop without end
function run(context)
  while true do
    context.n = (context.n or 0) + 1
  end
  return context --? plan_unreachable
end

--# never true
function run(context)
  if false then --? plan_unreachable
    context.debug = true
  end
  return context
end

--# never begun
function run(context)
  while nil do --? plan_unreachable
    context.n = 1
  end
  return context
end

--# run twice
function run(context)
  return {first = true}
end

function run(context) --? plan_run_shadowed
  return {second = true}
end

--# run assigned again
function run(context)
  return context
end

run = function(context) --? plan_run_shadowed
  return {}
end

--# a local run beside it
function run(context)
  local run = 3 --? plan_run_shadowed
  return {run = run}
end

--# run assigned inside
function run(context)
  run = nil --? plan_run_shadowed
  return context
end

--# an API key in a header
function run(context)
  local page = fetch_url{urls = "https://example.com", headers = {Authorization = "Bearer abcdef123456"}} --? plan_secret_written
  return {ok = type(page) == "string"}
end

--# a key of a model
local KEY = "sk-abcdefghijklmnopqrstuvwx" --? plan_secret_written

function run(context)
  return {key = KEY}
end

--# a password in a URL
function run(context)
  local page = fetch_url("https://admin:hunter22@example.com/data") --? plan_secret_written
  return {ok = type(page) == "string"}
end

--# a password in a variable
function run(context)
  local password = "correct-horse" --? plan_secret_written
  return {length = #password}
end

--# a token in a field
function run(context)
  context.access_token = "f00ba4f00ba4" --? plan_secret_written
  return context
end

--# a key of a cloud
function run(context)
  return {id = "AKIAIOSFODNN7EXAMPLE"} --? plan_secret_written
end

--# a private key
local PEM = "-----BEGIN RSA PRIVATE KEY-----" --? plan_secret_written

function run(context)
  return {pem = PEM}
end

--# a token of a code host
local TOKEN_HEADER = "token ghp_abcdefghijklmnopqrstuvwxyz0123" --? plan_secret_written

function run(context)
  return {header = TOKEN_HEADER}
end

--# a recipient nobody named
--# task: Mail the list of open orders to ops@example.com.
function run(context)
  local rows = query_db{table = "orders", where = "status = 'open'"}
  if rows.error then return {error = rows.error} end
  local receipt = send_email("sales@example.com", "Open orders", csv.encode(rows)) --? plan_address_written
  return {ok = not receipt.error}
end

--# a host nobody named
--# task: Fetch the prices.
function run(context)
  local page = fetch_url("https://prices.example.org/today") --? plan_address_written
  return {ok = type(page) == "string"}
end

--# an address nobody named
--# task: Fetch the status page of 10.0.0.1.
function run(context)
  local page = fetch_url("http://" .. "10.0.0.2" .. "/status") --? plan_address_written
  return {ok = type(page) == "string"}
end

--# a copy to a stranger
--# task: Send the report to boss@example.com
--# context: {"cc": "ann@example.com"}
function run(context)
  local receipt = send_email{
    to = "boss@example.com",
    cc = {context.cc, "eve@example.net"}, --? plan_address_written
    subject = "Report",
    body = "See desk",
  }
  return {ok = not receipt.error}
end

--# a tool by a name worked out
function run(context)
  local name = "query" .. "_db"
  local rows = _G[name]{table = "users"} --? plan_dynamic_tool
  return {ok = not rows.error}
end

--# a tool of a table by a name worked out
local tools = {mail = send_email, rows = query_db}

function run(context)
  local result = tools[context.what]{table = "users"} --? plan_dynamic_tool
  return {ok = not result.error}
end

--# a tool of a server by a name worked out
function run(context)
  local action = context.action or "find_customer"
  local result = crm[action]{id = 1} --? plan_dynamic_tool
  return {ok = not result.error}
end

--# allowed without a reason
function run(context)
  -- luaplan: allow(plan_result_unused) --? plan_allow_without_reason
  return context
end

--# nothing to allow
function run(context)
  -- luaplan: allow(plan_unreachable) it looked so once --? plan_allow_unused
  local n = 1
  return {n = n}
end

--# a rule that is not there
function run(context)
  -- luaplan: allow(plan_result_unusd) a slip --? plan_allow_unused
  return context
end

--# what cannot be allowed
function run(context)
  -- luaplan: allow(plan_bad_argument) I know better --? plan_allow_unused
  local rows = query_db{tabel = "users"} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a mail between a label and a jump back
function run(context)
  ::again::
  local receipt = send_email("a@example.com", "Hi", "x") --? plan_write_in_unbounded_loop
  if receipt.error then goto again end
  return context
end

--# a mail in a function that calls itself
local function send_all(mails)
  local receipt = send_email("a@example.com", "Hi", mails.text) --? plan_write_in_unbounded_loop
  if receipt.error == nil and mails.next then send_all(mails.next) end
end
function run(context)
  send_all(context.mails)
  return context
end

--# a mail in functions that call one another
local first
local function second(mails)
  local receipt = send_email("a@example.com", "Hi", mails.text) --? plan_write_in_unbounded_loop
  if receipt.error then first(mails) end
end
first = function(mails) second(mails) end
function run(context)
  first(context.mails)
  return context
end

--# a mail in a function that an open loop calls
local function tell(text)
  local receipt = send_email("a@example.com", "Hi", text) --? plan_write_in_unbounded_loop
  return receipt.error == nil
end
function run(context)
  local sent = false
  while not sent do sent = tell("x") end
  return context
end

--# a mail in a function made in an open loop
function run(context)
  local sent = false
  while not sent do
    sent = pcall(function()
      local receipt = send_email("a@example.com", "Hi", "x") --? plan_write_in_unbounded_loop
      if receipt.error then error(receipt.error) end
    end)
  end
  return context
end
