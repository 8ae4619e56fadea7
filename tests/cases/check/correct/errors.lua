--# error looked at, then given back
function run(context)
  local answer = call_llm("Say hello")
  if type(answer) ~= "string" then
    context.problem = answer.error
    return context
  end
  context.greeting = answer
  return context
end

--# type first for a tool that gives text
function run(context)
  local body = fetch_url("https://example.com/prices.csv")
  if type(body) == "string" then
    local rows = csv.parse(body, {numbers = true})
    return {rows = #rows}
  else
    return {error = body.error, code = body.code}
  end
end

--# retryable decides
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then
    if rows.retryable then
      rows = query_db{table = "users"}
    end
    if rows.error then
      return {failed = true, code = rows.code}
    end
  end
  return {count = #rows}
end

--# pcall around a tool
function run(context)
  local ok, rows = pcall(query_db, {table = "orders", limit = 10})
  if not ok then
    return {error = tostring(rows)}
  end
  if rows.error then
    return {error = rows.error}
  end
  return {orders = rows}
end

--# pcall around a closure that makes calls
function run(context)
  local ok, result = pcall(function()
    local page = fetch_url("https://example.com/")
    if type(page) == "table" and page.error then
      error(page.error)
    end
    return #page
  end)
  return ok and {size = result} or {error = result}
end

--# retry with a function
function run(context)
  local rows = retry(3, function()
    return query_db{table = "orders"}
  end)
  if rows.error then
    return {error = rows.error}
  end
  return {n = #rows}
end

--# a helper that looks for everyone
local function checked(result, what)
  if type(result) == "table" and result.error then
    error(what .. ": " .. result.error)
  end
  return result
end

function run(context)
  local rows = checked(query_db{table = "users", columns = {"name", "email"}}, "users")
  local html = checked(transform_data(rows, nil, "html"), "table")
  checked(send_email{to = "ops@example.com", subject = "Users", body = html, html = true}, "mail")
  return {sent = true}
end

--# every url of a batch may have failed
function run(context)
  local urls = {"https://example.com/a", "https://example.com/b"}
  local pages = fetch_url(urls, true)
  if pages.error then
    return {error = pages.error}
  end
  local failed, sizes = {}, {}
  for _, url in ipairs(urls) do
    local page = pages[url]
    if type(page) == "string" then
      sizes[url] = #page
    else
      failed[#failed + 1] = {url = url, why = page and page.error or "no answer"}
    end
  end
  return {sizes = sizes, failed = failed}
end

--# xpcall with a handler
function run(context)
  local ok, value = xpcall(function()
    return json.decode('{"a": 1')
  end, function(message)
    return "bad json: " .. tostring(message)
  end)
  context.ok = ok
  context.value = value
  return context
end

--# assert with a message
function run(context)
  local rows = query_db{table = "settings", where = {name = "currency"}}
  assert(not rows.error, rows.error)
  local first = assert(rows[1], "no currency is set")
  return {currency = first.value}
end

--# errors as tables and re-raised
function run(context)
  local function fail(code)
    error({code = code})
  end
  local ok, err = pcall(fail, "missing")
  if not ok and type(err) == "table" and err.code == "missing" then
    return {handled = true}
  end
  error(err, 0)
end

--# status of a failed fetch is looked at
function run(context)
  local page = fetch_url{urls = "https://example.com/missing", detail = true}
  if page.error then
    if page.status == 404 then
      return {found = false}
    end
    return {error = page.error, after = page.retry_after_ms}
  end
  return {found = true, status = page.status, type = page.content_type}
end

--# error kept in the context and the plan goes on
function run(context)
  context.errors = context.errors or {}
  local weather = get_weather{city = "Bergen", units = "metric"}
  if weather.error then
    table.insert(context.errors, weather.error)
  else
    context.temperature = weather.temperature
  end
  return context
end

--# success is looked for instead of failure
function run(context)
  local receipt = send_email("team@example.com", "Standup", "At ten.")
  if receipt.delivered then
    return {id = receipt.message_id}
  end
  return {error = receipt.error}
end

--# or gives a default after looking
function run(context)
  local answer = call_llm{prompt = "One word for blue", max_tokens = 5}
  local word = type(answer) == "string" and answer or "blue"
  return {word = text.trim(word)}
end
