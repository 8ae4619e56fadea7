--# three calls side by side
function run(context)
  local got = parallel{
    users = function() return query_db{table = "users"} end,
    page = function() return fetch_url("https://example.com") end,
    weather = function() return get_weather("Rome") end,
  }
  return {
    users = got.users.error and 0 or #got.users,
    page = type(got.page) == "string" and #got.page or 0,
    warm = not got.weather.error and got.weather.temperature > 20,
  }
end

--# branches made in a loop
function run(context)
  local cities = {"Rome", "Oslo", "Lima"}
  local branches = {}
  for i, city in ipairs(cities) do
    branches[i] = function()
      return get_weather{city = city, units = "metric"}
    end
  end
  local results = parallel(branches)
  local warm = {}
  for i, result in ipairs(results) do
    if not result.error and result.temperature > 20 then
      warm[#warm + 1] = cities[i]
    end
  end
  return {warm = warm}
end

--# branches by list.map
function run(context)
  local tables = {"users", "orders", "items"}
  local counts = parallel(list.map(tables, function(name)
    return function()
      return query_db{sql = "SELECT count(*) AS n FROM " .. name}
    end
  end))
  local result = {}
  for i, rows in ipairs(counts) do
    result[tables[i]] = rows.error or rows[1].n
  end
  return result
end

--# coroutine as a generator
local function numbers(n)
  return coroutine.wrap(function()
    for i = 1, n do coroutine.yield(i) end
  end)
end

function run(context)
  local sum = 0
  for n in numbers(5) do sum = sum + n end
  return {sum = sum}
end

--# coroutines with create and resume
function run(context)
  local co = coroutine.create(function(a)
    local b = coroutine.yield(a + 1)
    return a + b
  end)
  local _, first = coroutine.resume(co, 1)
  local ok, second = coroutine.resume(co, 10)
  return {first = first, second = second, ok = ok, status = coroutine.status(co)}
end

--# coroutines round robin in the hope of overlap
function run(context)
  local urls = {"https://example.com/1", "https://example.com/2"}
  local tasks, results = {}, {}
  for _, url in ipairs(urls) do
    tasks[#tasks + 1] = coroutine.create(function()
      local body = fetch_url(url)
      results[url] = type(body) == "string" and #body or body.error
    end)
  end
  while #tasks > 0 do
    for i = #tasks, 1, -1 do
      local ok, err = coroutine.resume(tasks[i])
      if not ok then error(err) end
      if coroutine.status(tasks[i]) == "dead" then table.remove(tasks, i) end
    end
  end
  return results
end

--# retry inside parallel
function run(context)
  local a, b = nil, nil
  parallel{
    function() a = retry(2, function() return query_db{table = "a"} end) end,
    function() b = retry(2, function() return query_db{table = "b"} end) end,
  }
  return {a = a and not a.error and #a, b = b and not b.error and #b}
end

--# retry with a backoff written by hand
function run(context)
  local rows
  for attempt = 1, 3 do
    rows = query_db{table = "flaky"}
    if not rows.error or not rows.retryable then break end
  end
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# parallel with named results and errors collected
function run(context)
  local results = parallel{
    customer = function() return crm.find_customer{id = 7} end,
    orders = function() return crm.list_orders{customer_id = 7, status = "open"} end,
  }
  local errors = {}
  for name, result in pairs(results) do
    if result.error then errors[name] = result.error end
  end
  if next(errors) then return {errors = errors} end
  return {name = results.customer.name, open = #results.orders}
end
