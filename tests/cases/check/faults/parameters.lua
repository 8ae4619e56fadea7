--# a misspelt parameter that must be given
function run(context)
  local receipt = send_email{too = "a@example.com", subject = "Hi", body = "x"} --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a misspelt parameter that need not be given
function run(context)
  local rows = query_db{tabel = "users"} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a misspelt order_by
function run(context)
  local rows = query_db{table = "users", orderby = "name"} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a parameter of another tool
function run(context)
  local rows = query_db{table = "users", city = "Rome"} --! plan_bad_argument
  return {ok = not rows.error}
end

--# the subject is missing
function run(context)
  local receipt = send_email{to = "a@example.com", body = "x"} --! plan_bad_argument
  return {ok = not receipt.error}
end

--# the body is missing in a row
function run(context)
  local receipt = send_email("a@example.com", "Hi") --! plan_bad_argument
  return {ok = not receipt.error}
end

--# nothing is given
function run(context)
  local answer = call_llm() --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# an empty table is given
function run(context)
  local answer = call_llm{} --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# a number for text
function run(context)
  local receipt = send_email("a@example.com", 42, "x") --! plan_bad_argument
  return {ok = not receipt.error}
end

--# text for a number
function run(context)
  local rows = query_db{table = "users", limit = "10"} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a table for text
function run(context)
  local rows = query_db{table = {"users", "orders"}} --! plan_bad_argument
  return {ok = not rows.error}
end

--# a function for text
function run(context)
  local answer = call_llm{prompt = function() return "hello" end} --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# a bool for text
function run(context)
  local weather = get_weather{city = true} --! plan_bad_argument
  return {ok = not weather.error}
end

--# a value outside the enum
function run(context)
  local weather = get_weather{city = "Oslo", units = "celsius"} --! plan_bad_argument
  return {ok = not weather.error}
end

--# a value outside the enum by position
function run(context)
  local ticket = create_ticket("Printer", "medium") --! plan_bad_argument
  return {ok = not ticket.error}
end

--# a format that is not there
function run(context)
  local body = transform_data({1, 2}, nil, "pdf") --! plan_bad_argument
  return {ok = type(body) == "string"}
end

--# a method that is not allowed
function run(context)
  local page = fetch_url{urls = "https://example.com", method = "POST"} --! plan_bad_argument
  return {ok = type(page) == "string"}
end

--# too many arguments
function run(context)
  local answer = call_llm("Hi", 10, "text", nil, nil, nil, true) --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# a number too large
function run(context)
  local weather = get_weather{city = "Oslo", days = 30} --! plan_bad_argument
  return {ok = not weather.error}
end

--# a number too small
function run(context)
  local answer = call_llm{prompt = "Hi", max_tokens = 0} --! plan_bad_argument
  return {ok = type(answer) == "string"}
end

--# a fraction for a whole number
function run(context)
  local done = set_stock{article = "A", pieces = 2.5} --! plan_bad_argument
  return {ok = not done.error}
end

--# a list with a wrong item
function run(context)
  local page = fetch_url({"https://example.com", 5}, true) --! plan_bad_argument
  return {ok = not page.error}
end

--# labels as text
function run(context)
  local ticket = create_ticket{title = "T", priority = "low", labels = "a,b"} --! plan_bad_argument
  return {ok = not ticket.error}
end

--# an empty title
function run(context)
  local ticket = create_ticket{title = "", priority = "low"} --! plan_bad_argument
  return {ok = not ticket.error}
end

--# a tool of a server by colon
function run(context)
  local customer = crm:find_customer{id = 1} --! plan_bad_argument
  return {ok = not customer.error}
end

--# a misspelt parameter of a server's tool
function run(context)
  local customer = crm.find_customer{mail = "a@example.com"} --! plan_bad_argument
  return {ok = not customer.error}
end

--# inside pcall
function run(context)
  local ok, rows = pcall(query_db, {tabel = "users"}) --! plan_bad_argument
  return {ok = ok and not rows.error}
end

--# inside retry
function run(context)
  local weather = retry(3, get_weather, {town = "Oslo"}) --! plan_bad_argument
  return {ok = not weather.error}
end

--# inside parallel
function run(context)
  local got = parallel{
    function() return get_weather{city = "Oslo", unit = "metric"} end, --! plan_bad_argument
    function() return query_db{table = "users"} end,
  }
  return {ok = not got[1].error and not got[2].error}
end

--# inside a nested function
function run(context)
  local function load(name)
    local rows = query_db{table = name, wher = "id > 1"} --! plan_bad_argument
    return rows
  end
  local rows = load("users")
  return {ok = not rows.error}
end

--# in an argument of another call
function run(context)
  local body = transform_data(query_db{tables = "users"}, nil, "html") --! plan_bad_argument
  return {ok = type(body) == "string"}
end

--# a stranger among right names
function run(context)
  local receipt = send_email{to = "a@example.com", subject = "Hi", body = "x", from = "b@example.com"} --! plan_bad_argument
  return {ok = not receipt.error}
end

--# the wrong kind of html
function run(context)
  local receipt = send_email{to = "a@example.com", subject = "Hi", body = "x", html = "yes"} --! plan_bad_argument
  return {ok = not receipt.error}
end

--# a required parameter that is nil
function run(context)
  local done = set_stock{article = nil, pieces = 3} --! plan_bad_argument
  return {ok = not done.error}
end
