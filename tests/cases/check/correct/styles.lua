--# semicolons and parentheses everywhere
function run(context)
  local rows = query_db({ table = "users"; limit = 5; });
  if (rows.error) then return { error = rows.error }; end;
  return { count = (#rows); };
end

--# everything on a few lines
function run(c) local r = query_db{table="t"} if r.error then return r.error end local s = 0 for _, x in ipairs(r) do s = s + (x.n or 0) end return {s = s} end

--# constants at the top
local TABLE <const> = "orders"
local LIMIT <const> = 25
local RECIPIENTS = {"a@example.com", "b@example.com"}

function run(context)
  local rows = query_db{table = TABLE, limit = LIMIT}
  if rows.error then return {error = rows.error} end
  local receipt = send_email(RECIPIENTS, "Orders", csv.encode(rows))
  return {ok = receipt.delivered == true}
end

--# comments with annotations of an editor
---@param rows table
---@return number
local function total(rows)
  local sum = 0 ---@type number
  for _, row in ipairs(rows) do sum = sum + (row.amount or 0) end
  return sum
end

---@param context table
function run(context)
  local rows = query_db{table = "payments"}
  if rows.error then return {error = rows.error} end
  return {total = total(rows)}
end

--# long comments
--[[
  This plan does nothing but
  give its context back.
]]
function run(context)
  --[==[ nested ]] brackets ]==]
  return context
end

--# a result object kept by every step
function run(context)
  local result = {steps = {}, ok = true}
  local function step(name, fn)
    if not result.ok then return end
    local ok, value = pcall(fn)
    table.insert(result.steps, {name = name, ok = ok, value = ok and value or tostring(value)})
    result.ok = result.ok and ok
  end
  step("users", function()
    local rows = query_db{table = "users"}
    if rows.error then error(rows.error) end
    return #rows
  end)
  step("mail", function()
    local receipt = send_email("a@example.com", "Done", "All steps ran.")
    if receipt.error then error(receipt.error) end
    return receipt.message_id
  end)
  return result
end

--# a pipeline of functions
local function pipeline(value, ...)
  for _, fn in ipairs({...}) do
    value = fn(value)
  end
  return value
end

function run(context)
  local out = pipeline({3, 1, 2},
    list.sort,
    list.reverse,
    function(items) return list.map(items, function(x) return x * 10 end) end)
  return {out = out}
end

--# logging helpers
local log = {}
local function info(fmt, ...)
  local line = string.format(fmt, ...)
  log[#log + 1] = line
  print(line)
end

function run(context)
  info("starting with %d keys", #list.keys(context))
  local rows = query_db{table = "users"}
  if rows.error then
    info("failed: %s", rows.error)
    return {ok = false, log = log}
  end
  info("%d rows", #rows)
  return {ok = true, log = log}
end

--# a table of handlers
local handlers = {}

function handlers.count(rows) return #rows end
handlers["first"] = function(rows) return rows[1] end
handlers.names = function(rows)
  return list.map(rows, function(row) return row.name end)
end

function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local handler = handlers[context.action or "count"]
  if not handler then return {error = "unknown action"} end
  return {result = handler(rows)}
end

--# optional chaining by and
function run(context)
  local rows = query_db{table = "users", limit = 1}
  local name = rows and not rows.error and rows[1] and rows[1].name or "nobody"
  local length = name and #name or 0
  return {name = name, length = length}
end

--# nested ternaries
function run(context)
  local n = context.n or 5
  local size = n < 3 and "small" or n < 10 and "medium" or "large"
  return {size = size}
end

--# bits and hex
function run(context)
  local flags = 0x0F
  local mask = 1 << 2
  return {set = flags & mask ~= 0, all = flags | 0xF0, flipped = ~flags, odd = flags ~ mask, shifted = flags >> 1}
end

--# swap and multiple assignment
function run(context)
  local a, b, c = 1, 2
  a, b = b, a
  local t = {}
  t.x, t.y = a, b
  c = c or "none"
  return {t = t, c = c}
end

--# shadowed locals
function run(context)
  local value = 1
  do
    local value = "text"
    context.inner = value .. "!"
  end
  for value = 1, 2 do
    context.last = value
  end
  context.outer = value + 1
  return context
end

--# a local of the name of a tool
function run(context)
  local query_db = function(name) return {name = name} end
  return query_db("anything", 1, 2, 3)
end

--# a global helper
function square(x) return x * x end

function run(context)
  total_of_squares = 0
  for i = 1, 3 do total_of_squares = total_of_squares + square(i) end
  return {sum = total_of_squares}
end

--# numbers in every form
function run(context)
  return {a = 0xff, b = 1e3, c = .5, d = 3., e = 0x1p4, f = 1 // 0.3, g = -2 ^ 2, h = 7 % -3, i = 10 / 2}
end

--# equality and order of texts
function run(context)
  local names = {"b", "A", "c"}
  table.sort(names, function(x, y) return x:lower() < y:lower() end)
  return {first = names[1], same = names[1] == "A", differs = names[2] ~= "B"}
end

--# methods on a literal
function run(context)
  return {a = ("x"):rep(3), b = #"four", c = ({10, 20, 30})[2], d = (function() return 5 end)()}
end

--# a deep return of tables
function run(context)
  return {
    meta = {version = 1, tags = {"a", "b"}},
    data = {{id = 1, parts = {{n = 1}, {n = 2}}}, {id = 2, parts = {}}},
    nothing = nil,
    flag = not not context.flag,
  }
end

--# an allowed finding with its reason
function run(context)
  -- luaplan: allow(plan_result_unused) the mail is a courtesy; a failure may end the run
  send_email("a@example.com", "Started", "The import begins.")
  local rows = query_db{table = "imports"}
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# an allowed loop
function run(context)
  local open = {"a", "b", "c"}
  -- luaplan: allow(plan_write_in_unbounded_loop) each turn takes one from the list
  while #open > 0 do
    local title = table.remove(open)
    local ticket = create_ticket{title = title, priority = "low"}
    if ticket.error then return {error = ticket.error, left = open} end
  end
  return {done = true}
end

--# a value that changes its kind
function run(context)
  local value = 1
  value = "now text"
  local receipt = send_email("a@example.com", value, "x")
  value = {done = not receipt.error}
  return value
end

--# a value decided by branches
function run(context)
  local body
  if context.long then
    body = "A long text"
  else
    body = nil
  end
  body = body or "short"
  local receipt = send_email("a@example.com", "Hi", body)
  return {ok = not receipt.error}
end

--# tostring and tonumber on the way
function run(context)
  local limit = tonumber(context.limit) or 10
  local rows = query_db{table = "users", limit = math.tointeger(limit) or 10}
  if rows.error then return {error = rows.error} end
  local receipt = send_email("a@example.com", tostring(#rows), "rows: " .. #rows)
  return {ok = not receipt.error}
end

--# values through varargs
local function first(...) return (...) end
local function ask(...)
  return query_db(...)
end

function run(context)
  local rows = ask("users", "id > 1")
  if rows.error then return {error = rows.error} end
  local name = first(rows[1] and rows[1].name, "nobody")
  return {name = name or "nobody"}
end

--# parameters merged from two tables
local function merge(a, b)
  local result = {}
  for k, v in pairs(a) do result[k] = v end
  for k, v in pairs(b) do result[k] = v end
  return result
end

function run(context)
  local base = {to = "a@example.com", subject = "Hi", body = "x"}
  local receipt = send_email(merge(base, {subject = "Changed"}))
  return {ok = not receipt.error}
end

--# a table used for other things after the call
function run(context)
  local query = {table = "users"}
  local rows = query_db(query)
  query.count = rows.error and 0 or #rows
  query.note = "asked"
  return query
end

--# a list or a single text
function run(context)
  local to = context.to or {"a@example.com"}
  if type(to) == "string" then to = {to} end
  local receipt = send_email(to, "Hi", "x")
  return {n = #to, ok = not receipt.error}
end

--# queue with head and tail
function run(context)
  local graph = {a = {"b", "c"}, b = {"d"}, c = {"d"}, d = {}}
  local order, seen, queue, head = {}, {a = true}, {"a"}, 1
  while head <= #queue do
    local node = queue[head]
    head = head + 1
    order[#order + 1] = node
    for _, next_node in ipairs(graph[node]) do
      if not seen[next_node] then
        seen[next_node] = true
        queue[#queue + 1] = next_node
      end
    end
  end
  return {order = order}
end

--# binary search
function run(context)
  local values, wanted = {1, 3, 5, 7, 9, 11}, 7
  local low, high = 1, #values
  while low <= high do
    local middle = (low + high) // 2
    if values[middle] == wanted then
      return {at = middle}
    elseif values[middle] < wanted then
      low = middle + 1
    else
      high = middle - 1
    end
  end
  return {at = null}
end

--# permutations by recursion
local function permute(items, n, out)
  if n <= 1 then
    out[#out + 1] = table.concat(items)
    return out
  end
  for i = 1, n do
    items[n], items[i] = items[i], items[n]
    permute(items, n - 1, out)
    items[n], items[i] = items[i], items[n]
  end
  return out
end

function run(context)
  return {all = permute({"a", "b", "c"}, 3, {})}
end

--# a matrix product
function run(context)
  local function multiply(a, b)
    local result = {}
    for i = 1, #a do
      result[i] = {}
      for j = 1, #b[1] do
        local sum = 0
        for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
        result[i][j] = sum
      end
    end
    return result
  end
  return multiply({{1, 2}, {3, 4}}, {{5, 6}, {7, 8}})
end

--# primes with goto
function run(context)
  local primes = {}
  for n = 2, 50 do
    for _, p in ipairs(primes) do
      if p * p > n then break end
      if n % p == 0 then goto continue end
    end
    primes[#primes + 1] = n
    ::continue::
  end
  return {primes = primes}
end

--# an emptied list and an early nil
function run(context)
  local cache = nil
  local function get()
    if not cache then
      local rows = query_db{table = "settings"}
      cache = rows.error and {} or rows
    end
    return cache
  end
  local first = get()[1]
  return {name = first and first.name, again = #get()}
end
