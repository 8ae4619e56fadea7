--# each call looked at before its result is used
function run(context)
  local users = query_db{table = "users", where = {active = true}}
  if users.error then
    return {ok = false, why = users.error}
  end
  local page = fetch_url("https://example.com/page")
  if page.error then
    return {ok = false, why = page.error}
  end
  return {ok = true, users = #users, bytes = #page}
end

--# a failure told by its code
function run(context)
  local page = fetch_url("https://example.com/missing")
  if page.error then
    if page.code == "http_status" and page.status == 404 then
      return {missing = true}
    end
    error("fetch failed: " .. page.error)
  end
  return {missing = false, size = #page}
end

--# a helper that raises, and a caller that catches
local function must(value, what)
  if value.error then error(what .. ": " .. value.error, 0) end
  return value
end

function run(context)
  local ok, why = pcall(function()
    must(query_db{table = "locked"}, "reading")
  end)
  return {ok = ok, why = tostring(why)}
end

--# pcall of a tool, both results looked at
function run(context)
  local ok, rows = pcall(query_db, {table = "locked"})
  if not ok then return {raised = tostring(rows)} end
  if rows.error then return {failed = rows.error} end
  return {n = #rows}
end

--# retry of a helper
function run(context)
  local rows = retry(3, function()
    return query_db{table = "flaky"}
  end)
  if rows.error then return {error = rows.error} end
  local sum = 0
  for _, row in ipairs(rows) do sum = sum + row.n end
  return {sum = sum}
end

--# retry of a tool with its arguments
function run(context)
  local rows = retry(2, query_db, {table = "flaky"})
  if rows.error then
    return {error = rows.error, again = rows.retryable}
  end
  return {n = #rows}
end

--# two calls side by side
function run(context)
  local both = parallel{
    users = function() return query_db{table = "users"} end,
    page = function() return fetch_url("https://example.com/page") end,
  }
  if both.users.error then return {error = both.users.error} end
  if both.page.error then return {error = both.page.error} end
  return {users = #both.users, page = #both.page}
end

--# branches made in a loop
function run(context)
  local branches = {}
  for _, table_name in ipairs({"users", "orders", "products"}) do
    branches[table_name] = function() return query_db{table = table_name} end
  end
  local results = parallel(branches)
  local counts, failed = {}, {}
  for name, rows in pairs(results) do
    if rows.error then failed[#failed + 1] = name else counts[name] = #rows end
  end
  return {counts = counts, failed = failed}
end

--# one branch fails, the others count
function run(context)
  local results = parallel{
    function() return query_db{table = "users"} end,
    function() return query_db{table = "locked"} end,
    function() return query_db{table = "empty"} end,
  }
  local good, bad = 0, 0
  for _, result in ipairs(results) do
    if result.error then bad = bad + 1 else good = good + 1 end
  end
  return {good = good, bad = bad}
end

--# another source where the first fails
function run(context)
  local rows = query_db{table = "locked"}
  if rows.error then
    rows = query_db{table = "users"}
  end
  if rows.error then
    return {error = rows.error}
  end
  return {n = #rows, first = rows[1] and rows[1].name or "nobody"}
end

--# a result and an error as two values
local function load(name)
  local rows = query_db{table = name}
  if rows.error then return nil, rows.error end
  return rows, nil
end

function run(context)
  local rows, err = load("orders")
  if not rows then return {error = err} end
  local none, why = load("locked")
  return {n = #rows, none = none == nil, why = why}
end

--# errors collected and told together
function run(context)
  local problems = {}
  local function note(what, result)
    if result.error then
      problems[#problems + 1] = what .. " failed (" .. result.code .. ")"
      return false
    end
    return true
  end
  local users = query_db{table = "users"}
  local locked = query_db{table = "locked"}
  note("users", users)
  note("locked", locked)
  if #problems > 0 then return {problems = problems, first = problems[1]} end
  return {problems = {}}
end

--# a table raised and caught
function run(context)
  local function check(age)
    if age < 0 then error({kind = "range", age = age}) end
    return age
  end
  local ok, err = pcall(check, -5)
  if not ok and type(err) == "table" then
    return {kind = err.kind, age = err.age}
  end
  return {ok = ok}
end

--# xpcall with a handler that writes
function run(context)
  local ok, told = xpcall(function()
    local data = json.decode("{broken")
    return data.value
  end, function(message)
    return "bad input: " .. tostring(message)
  end)
  return {ok = ok, told = text.truncate(tostring(told), 40)}
end

--# assert with a message
function run(context)
  local limit = context.limit or 10
  assert(type(limit) == "number", "limit must be a number")
  assert(limit > 0, "limit must be positive")
  local rows = query_db{table = "orders", limit = math.floor(limit)}
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# a failure that is only noted
function run(context)
  local weather = get_weather{city = "Oslo"}
  local note
  if weather.error then
    note = "no weather: " .. weather.error
  else
    note = string.format("%.1f degrees in %s", weather.temperature, weather.city)
  end
  return {note = note}
end

--# tries counted by hand
function run(context)
  local rows
  local tries = 0
  repeat
    tries = tries + 1
    rows = query_db{table = "flaky"}
  until not rows.error or tries >= 3
  if rows.error then return {error = rows.error, tries = tries} end
  return {tries = tries, n = #rows}
end

--# nothing there is no failure
function run(context)
  local rows = query_db{table = "empty"}
  if rows.error then return {error = rows.error} end
  if #rows == 0 then
    return {message = "nothing to do"}
  end
  return {first = rows[1].id}
end

--# guards at the top of a helper
local function describe(user)
  if user == nil then return "nobody" end
  if type(user) ~= "table" then return tostring(user) end
  if not user.name then return "unnamed" end
  return user.name .. " <" .. (user.email or "no address") .. ">"
end

function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  return {describe(users[1]), describe(users[3]), describe(nil), describe(5)}
end

--# a customer that is not there
function run(context)
  local customer = crm.find_customer{id = 404}
  if customer.error then
    if customer.code == "not_found" then return {found = false} end
    return {error = customer.error}
  end
  return {found = true, name = customer.name}
end

--# nested calls with a guard for each
function run(context)
  local customer = crm.find_customer{email = "ada@example.com"}
  if customer.error then return {error = customer.error} end
  local orders = crm.list_orders{customer_id = customer.id, limit = 5}
  if orders.error then return {error = orders.error} end
  local notes = {}
  for _, order in ipairs(orders) do
    if order.note then notes[#notes + 1] = order.note end
  end
  return {city = customer.address.city, notes = notes, tier = customer.tier or "basic"}
end

--# failures in a batch of pages
function run(context)
  local urls = {"https://example.com/a", "https://example.com/b"}
  local pages = fetch_url(urls, true)
  if pages.error then return {error = pages.error} end
  local sizes, failed = {}, {}
  for url, body in pairs(pages) do
    if body.error then
      failed[#failed + 1] = url
    else
      sizes[url] = #body
    end
  end
  return {sizes = sizes, failed = failed}
end

--# ok and why in one result object
local function attempt(fn)
  local ok, value = pcall(fn)
  if ok then return {ok = true, value = value} end
  return {ok = false, why = tostring(value)}
end

function run(context)
  local a = attempt(function() return 1 + 1 end)
  local b = attempt(function() error("no") end)
  return {a = a.value, b = b.ok, why = b.why ~= nil}
end

--# a mail is sent only once it is known what to say
function run(context)
  local rows = query_db{table = "invoices", where = "paid = ?", params = {false}}
  if rows.error then return {sent = false, error = rows.error} end
  if #rows == 0 then return {sent = false} end
  local lines = {}
  for _, row in ipairs(rows) do
    lines[#lines + 1] = string.format("%s owes %.2f", row.customer, row.amount)
  end
  local receipt = send_email("ops@example.com", "Open invoices", table.concat(lines, "\n"))
  if receipt.error then return {sent = false, error = receipt.error} end
  return {sent = true, id = receipt.message_id}
end

--# validation of the context before anything else
--# context: {"to": "ops@example.com", "days": 3}
function run(context)
  local faults = {}
  if type(context.to) ~= "string" or not context.to:find("@", 1, true) then
    faults[#faults + 1] = "`to` must be an address"
  end
  if math.type(context.days) ~= "integer" or context.days < 1 then
    faults[#faults + 1] = "`days` must be a whole number above zero"
  end
  if #faults > 0 then return {faults = faults} end
  local weather = get_weather{city = "Oslo", days = context.days}
  if weather.error then return {error = weather.error} end
  local receipt = send_email(context.to, "Weather", weather.city .. ": " .. weather.temperature)
  return {ok = receipt.error == nil}
end
