--# the number of rows joined to a text
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  return {text = "Rows: " .. #rows .. "."}
end

--# a row's field joined to a text
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local first = rows[1]
  return first and ("First: " .. first.name .. " (" .. first.age .. ")") or "nobody"
end

--# rows written as JSON in a text
function run(context)
  local rows = query_db{table = "products"}
  if rows.error then return {error = rows.error} end
  return "Products: " .. json.encode(rows)
end

--# a boolean written as a text
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {text = "delivered: " .. tostring(receipt.delivered)}
end

--# one variable, first rows and then a text
function run(context)
  local out = query_db{table = "users"}
  if out.error then return {error = out.error} end
  out = list.map(out, "name")
  out = table.concat(out, ", ")
  return "Names: " .. out
end

--# one variable, a text only in one branch
function run(context)
  local value = crm.find_customer{id = 1}
  if value.error then
    value = "nobody"
  else
    value = value.name
  end
  return "Customer: " .. value
end

--# a variable that loops change from a table to a text
function run(context)
  local last = {}
  local out = "order"
  for _, word in ipairs({"a", "b"}) do
    if type(last) == "string" then out = out .. " " .. last end
    last = word
  end
  return {out = out, last = last}
end

--# a text made of the turn before
function run(context)
  local line, before = "", nil
  for _, n in ipairs({1, 2, 3}) do
    if before then line = line .. (n - before) end
    before = n
  end
  return line
end

--# a body or a table, asked by type
function run(context)
  local page = fetch_url("https://example.com/page")
  if type(page) == "table" then return {error = page.error} end
  return "Length: " .. #page
end

--# a body that is a text
function run(context)
  local page = fetch_url{urls = "https://example.com/page"}
  if page.error then return {error = page.error} end
  return {head = "Head: " .. page:sub(1, 6), size = page:len()}
end

--# bodies by address
function run(context)
  local pages = fetch_url{urls = {"https://example.com/a", "https://example.com/b"}, batch = true}
  if pages.error then return {error = pages.error} end
  local sizes = {}
  for url, body in pairs(pages) do sizes[url] = #body end
  return sizes
end

--# a page in detail
function run(context)
  local page = fetch_url{urls = "https://example.com/page", detail = true}
  if page.error then return {error = page.error} end
  return "Status " .. page.status .. ", " .. #page.body .. " bytes"
end

--# an answer read as JSON before it is asked for fields
function run(context)
  local answer = call_llm{prompt = "Judge it", format = "json"}
  if answer.error then return {error = answer.error} end
  local judged = json.decode(answer)
  return {score = judged.score * 10, first = judged.topics[1]}
end

--# an answer as a text with its methods
function run(context)
  local answer = call_llm("Say hello")
  if answer.error then return {error = answer.error} end
  local words = 0
  for _ in answer:gmatch("%a+") do words = words + 1 end
  return {words = words, loud = answer:upper(), first = answer:match("^%a+")}
end

--# lines of an answer
function run(context)
  local answer = call_llm("List three")
  if answer.error then return {error = answer.error} end
  local out = {}
  for i, line in ipairs(text.lines(answer)) do out[i] = i .. ". " .. line end
  return table.concat(out, "\n")
end

--# the failure's own text joined
function run(context)
  local rows = query_db{table = "locked"}
  if rows.error then return {message = "No rows: " .. rows.error .. " (" .. rows.code .. ")"} end
  return {n = #rows}
end

--# a number in a text taken as a number
function run(context)
  local count = "4"
  return {twice = count * 2, more = "10" + 1}
end

--# a text of digits made a number before it is compared
function run(context)
  local answer = tonumber(text.trim(" 12 "))
  if answer and answer > 3 then return "many" end
  return "few"
end

--# the parts of a date
function run(context)
  local parts = date.parts(date.parse("2026-03-01"))
  return {year = parts.year, text = "month " .. parts.month}
end

--# dates compared as texts
function run(context)
  local from, to = date.parse("2026-03-01"), date.add("2026-03-01", 3)
  if from < to then return date.diff(from, to) .. " days" end
  return "none"
end

--# texts compared with texts
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  table.sort(users, function(a, b) return a.name > b.name end)
  return {first = users[1] and users[1].name}
end

--# a table of functions called by name
function run(context)
  local render = {short = function(n) return "n=" .. n end, long = function(n) return "number " .. n end}
  local rows = query_db{table = "events"}
  if rows.error then return {error = rows.error} end
  return render["long"](#rows) .. render.short(1)
end

--# a function out of a function, called
local function counter(start)
  local n = start
  return function(by)
    n = n + (by or 1)
    return n
  end
end

function run(context)
  local tick = counter(10)
  tick()
  return "now " .. tick(5) .. " and " .. counter(0)()
end

--# an iterator of the plan's own
local function each(rows)
  local place = 0
  return function()
    place = place + 1
    return rows[place]
  end
end

function run(context)
  local names = {}
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  for user in each(users) do names[#names + 1] = user.name .. "/" .. user.id end
  return names
end

--# next as the iterator
function run(context)
  local n = 0
  for key, value in next, {a = 1, b = 2} do n = n + value + #key end
  return n
end

--# matches of a text as the iterator
function run(context)
  local page = fetch_url("https://example.com/page")
  if page.error then return {error = page.error} end
  local links = {}
  for href in string.gmatch(page, 'href="([^"]+)"') do links[#links + 1] = "link " .. href end
  return links
end

--# a field that is first a list and then a text
function run(context)
  local report = {lines = {}}
  for i = 1, 3 do table.insert(report.lines, "line " .. i) end
  report.lines = table.concat(report.lines, ";")
  return {text = "Report: " .. report.lines}
end

--# a cache that a function fills
local cache = {}

local function rate(code)
  if not cache[code] then cache[code] = code == "nok" and 11.5 or 1 end
  return cache[code]
end

function run(context)
  return {text = "rate " .. rate("nok"), sum = rate("nok") + rate("eur")}
end

--# a variable that a closure changes from a table to a text
function run(context)
  local state = {}
  local function finish() state = "finished" end
  finish()
  return "state: " .. state
end

--# several values of one function
local function split_name(full)
  local first, last = full:match("(%a+) (%a+)")
  return first or full, last or ""
end

function run(context)
  local first, last = split_name("Ada Lovelace")
  return last .. ", " .. first
end

--# a value or a default in arithmetic
function run(context)
  local weather = get_weather{city = "Oslo"}
  if weather.error then return {error = weather.error} end
  local wind = weather.wind or 0
  return {text = "wind " .. wind, warm = weather.temperature > 3, feels = weather.temperature - wind * 0.5}
end

--# the length of a text, a list and a string of a result
function run(context)
  local customer = crm.find_customer{id = 7}
  if customer.error then return {error = customer.error} end
  return #customer.name + #customer.address.city + #({1, 2})
end

--# orders added up by a field
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  local total, text = 0, "orders:"
  for _, order in ipairs(orders) do
    total = total + order.total
    text = text .. " " .. order.id .. "=" .. order.status
  end
  return {total = total, mean = total / #orders, text = text}
end

--# results side by side
function run(context)
  local both = parallel{
    users = function() return query_db{table = "users"} end,
    page = function() return fetch_url("https://example.com/page") end,
  }
  if both.users.error or both.page.error then return {error = "failed"} end
  return both.users[1].name .. " " .. #both.page
end

--# a result through pcall
function run(context)
  local ok, day = pcall(date.parse, "no date")
  if not ok then return "not a date: " .. tostring(day) end
  return "day " .. day
end

--# a result through retry
function run(context)
  local rows = retry(3, query_db, {table = "flaky"})
  if rows.error then return {error = rows.error} end
  return {n = rows[1].n + rows[2].n, text = "got " .. #rows}
end

--# a figure that may be absent
function run(context)
  local mean = stats.mean({1, 2, 3})
  if not mean then return "none" end
  return "mean " .. mean .. ", twice " .. mean * 2
end

--# a summary's figures
function run(context)
  local rows = query_db{table = "readings"}
  if rows.error then return {error = rows.error} end
  local summary = stats.summary(rows, "value")
  return string.format("%d readings, at most %.1f", summary.count, summary.max or 0) .. "; sum " .. summary.sum
end

--# a chosen function of the library
function run(context)
  local change = #"abc" > 2 and text.upper or text.lower
  return change("Abc") .. "!"
end

--# a text or a table of the context
--# context: {"user": {"name": "Ada"}, "note": "hello", "n": 4}
function run(context)
  return context.note .. ", " .. context.user.name .. " " .. context.n + 1
end

--# a truth and a choice in a text
function run(context)
  local rows = query_db{table = "empty"}
  if rows.error then return {error = rows.error} end
  return "rows: " .. (#rows == 0 and "none" or #rows) .. (not next(rows) and "." or "!")
end

--# groups of rows
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local groups = list.group_by(rows, "status")
  local lines = {}
  for _, status in ipairs(list.keys(groups)) do lines[#lines + 1] = status .. ": " .. #groups[status] end
  return lines
end

--# a method of a table with its own state
function run(context)
  local buffer = {parts = {}}
  function buffer:add(part) self.parts[#self.parts + 1] = part return self end
  function buffer:text() return table.concat(self.parts, " ") end
  return buffer:add("a"):add("b"):text() .. "."
end

--# operators by metatable
local Money = {}
Money.__index = Money
Money.__concat = function(a, b) return tostring(a) .. tostring(b) end
Money.__tostring = function(m) return m.amount .. " EUR" end
Money.__add = function(a, b) return setmetatable({amount = a.amount + b.amount}, Money) end
Money.__lt = function(a, b) return a.amount < b.amount end

function run(context)
  local a, b = setmetatable({amount = 2}, Money), setmetatable({amount = 3}, Money)
  return "sum: " .. (a + b) .. (a < b and " less" or " more")
end

--# the choice of a table by a variable that may be nil
local function read(name, statement)
  return query_db{table = name, sql = statement}
end

function run(context)
  local users, cities = read("users"), read(nil, "SELECT city, count(*) AS n FROM users GROUP BY city")
  if users.error or cities.error then return {error = "failed"} end
  return {#users, #cities}
end

--# arguments gathered step by step
function run(context)
  local request = {columns = {"name"}}
  if #"ab" == 2 then request.table = "users" else request.sql = "SELECT 1" end
  local rows = query_db(request)
  return rows.error or #rows
end

--# arguments by place
function run(context)
  local rows = query_db("users", "age > ?", {30})
  return rows.error or {n = #rows}
end

--# arguments that another function gives
local function request_for(name)
  return {table = name, limit = 10}
end

function run(context)
  local rows = query_db(request_for("users"))
  if rows.error then return rows.error end
  return #rows
end
