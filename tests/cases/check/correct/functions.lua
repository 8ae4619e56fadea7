--# local functions call one another
local function double(x) return x * 2 end
local function quadruple(x) return double(double(x)) end

function run(context)
  return {value = quadruple(context.value or 1)}
end

--# forward declaration and mutual recursion
local is_even, is_odd
function is_even(n) if n == 0 then return true end return is_odd(n - 1) end
function is_odd(n) if n == 0 then return false end return is_even(n - 1) end

function run(context)
  return {even = is_even(10)}
end

--# run as an assignment
local function greet(name)
  return ("Hello, %s!"):format(name)
end

run = function(context)
  return {greeting = greet(context.name or "world")}
end

--# varargs with select and pack
local function sum(...)
  local total = 0
  for i = 1, select("#", ...) do
    total = total + (select(i, ...))
  end
  return total
end

local function joined(separator, ...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  return table.concat(parts, separator)
end

function run(context)
  return {sum = sum(1, 2, 3), text = joined("-", "a", 1, true)}
end

--# closures count
local function counter()
  local n = 0
  return function()
    n = n + 1
    return n
  end
end

function run(context)
  local next_id = counter()
  local rows = query_db{table = "items"}
  if rows.error then return rows.error end
  for _, row in ipairs(rows) do
    row.id = next_id()
  end
  return rows
end

--# a closure changes what is passed to a tool
function run(context)
  local subject = nil
  local function decide(rows)
    subject = #rows .. " orders"
  end
  local rows = query_db{table = "orders"}
  if rows.error then
    subject = "no orders: " .. rows.error
  else
    decide(rows)
  end
  local receipt = send_email("ops@example.com", subject, "See the desk.")
  return {ok = not receipt.error}
end

--# recursion over a tree
local function depth(node)
  local deepest = 0
  for _, child in ipairs(node.children or {}) do
    deepest = math.max(deepest, depth(child))
  end
  return deepest + 1
end

function run(context)
  local tree = {children = {{children = {}}, {children = {{}}}}}
  return {depth = depth(tree)}
end

--# functions in a table
local format = {
  money = function(x) return string.format("%.2f EUR", x) end,
  percent = function(x) return string.format("%d %%", math.round(x * 100)) end,
}

function run(context)
  local as = format[context.as or "money"] or format.money
  return {text = as(12.5)}
end

--# memoize
local function memoize(f)
  local known = {}
  return function(x)
    local value = known[x]
    if value == nil then
      value = f(x)
      known[x] = value
    end
    return value
  end
end

local fib
fib = memoize(function(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end)

function run()
  return {fib = fib(30)}
end

--# several results and only the first wanted
local function minmax(list)
  local low, high = math.huge, -math.huge
  for _, v in ipairs(list) do
    if v < low then low = v end
    if v > high then high = v end
  end
  return low, high
end

function run(context)
  local low, high = minmax({3, 1, 2})
  return {low = low, high = high, only = (minmax({5}))}
end

--# compose
local function compose(...)
  local fns = {...}
  return function(x)
    for i = #fns, 1, -1 do x = fns[i](x) end
    return x
  end
end

function run(context)
  local slug = compose(function(s) return s:gsub("%s+", "-") end, string.lower, text.trim)
  return {slug = slug("  Hello World ")}
end

--# a tool under another name
local ask = query_db

function run(context)
  local rows = ask{table = "users", limit = 5}
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# tools in a table by name
local tools = {rows = query_db, page = fetch_url}

function run(context)
  local rows = tools.rows("users", "id > 5")
  local page = tools.page("https://example.com")
  return {rows = rows.error and 0 or #rows, page = type(page) == "string"}
end

--# early returns
function run(context)
  if not context then return {error = "no context"} end
  local city = context.city
  if not city then return {error = "no city"} end
  if type(city) ~= "string" then return {error = "city is no text"} end
  local weather = get_weather(city)
  if weather.error then return {error = weather.error} end
  return weather
end
