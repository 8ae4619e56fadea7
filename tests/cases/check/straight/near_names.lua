--# a name that nothing sets, only asked for
function run(context)
  if DEBUG then print("on") end --? plan_unknown_tool
  return {ok = true}
end

--# a default in place of a name that nothing sets
function run(context)
  local size = PAGE_SIZE or 2 --? plan_unknown_tool
  return {size = size}
end

--# compared with nil
function run(context)
  local mode = "plain"
  if settings == nil then mode = "default" end --? plan_unknown_tool
  return {mode = mode}
end

--# asked by type
function run(context)
  return {has = type(inspect) == "function"} --? plan_unknown_tool
end

--# used behind a guard
function run(context)
  local lines = {}
  if logger then --? plan_unknown_tool
    logger.info("begins") --? plan_unknown_tool
  end
  lines[#lines + 1] = "done"
  return lines
end

--# called behind a guard
function run(context)
  if trace then trace("run", 1) end --? plan_unknown_tool
  return context
end

--# used behind and
function run(context)
  local colour = theme and theme.colour or "grey" --? plan_unknown_tool
  return {colour = colour}
end

--# left early where it is not there
local function from_settings(key)
  if not overrides then return nil end --? plan_unknown_tool
  return overrides[key] --? plan_unknown_tool
end

function run(context)
  return {size = from_settings("size") or 10}
end

--# None for nothing in a variable
function run(context)
  local best = None --? plan_unknown_tool
  for _, n in ipairs({3, 1, 2}) do
    if not best or n > best then best = n end
  end
  return {best = best}
end

--# NULL in a comparison
function run(context)
  local row = {email = nil}
  if row.email == NULL then return "none" end --? plan_unknown_tool
  return row.email
end

--# undefined handed on as nothing
local function greet(name, title)
  return (title and title .. " " or "") .. name
end

function run(context)
  return greet("Ada", undefined) --? plan_unknown_tool
end

--# null of the library in a list and asked for
function run(context)
  local values = {1, null, 3}
  local n = 0
  for _, value in ipairs(values) do
    if value ~= null then n = n + 1 end
  end
  return {n = n, empty = json.is_null(values[2])}
end

--# globals set before they are read
config = {limit = 2, names = {}}

local function remember(name)
  config.names[#config.names + 1] = name
end

function run(context)
  remember("a")
  remember("b")
  return {n = #config.names, limit = config.limit}
end

--# globals set in a function that is called first
local function setup()
  total, seen = 0, {}
end

function run(context)
  setup()
  for _, n in ipairs({1, 2, 2}) do
    if not seen[n] then total, seen[n] = total + n, true end
  end
  return total
end

--# a global set further down
function run(context)
  return describe({1, 2, 3})
end

function describe(items)
  return #items .. " items"
end

--# a global through _G
_G.rates = {nok = 11.5}

function run(context)
  return {nok = rates.nok * 2}
end

--# a local declared ahead for two functions
local is_even

local function is_odd(n)
  if n == 0 then return false end
  return is_even(n - 1)
end

function is_even(n)
  if n == 0 then return true end
  return is_odd(n - 1)
end

function run(context)
  local odd, even = is_odd(5), is_even(5)
  return (odd and "odd" or "-") .. (even and "even" or "-")
end

--# a name set in both branches before it is read
function run(context)
  local label
  if #"abc" > 2 then label = "long" else label = "short" end
  return {label = label .. "!"}
end

--# names alike of which each is there
function run(context)
  local receipt, receipts = 1, {2, 3}
  local reciept = receipts[1]
  return receipt + reciept
end

--# a field with the name of no variable
function run(context)
  local order = {totl = 3, tax = 1}
  return {total = order.totl + order.tax}
end

--# a key with the name of no variable
function run(context)
  local counts = {}
  for _, word in ipairs(text.words("a b a")) do counts[word] = (counts[word] or 0) + 1 end
  return {a = counts.a, c = counts.c or 0, [ "b" ] = counts["b"]}
end

--# a label and a goto with a name of their own
function run(context)
  local n = 0
  for i = 1, 4 do
    if i % 2 == 0 then goto skip_even end
    n = n + i
    ::skip_even::
  end
  return n
end

--# a local with the name of a tool
function run(context)
  local sleep = {hours = 7}
  local fetch_url = "https://example.com/page"
  return {hours = sleep.hours, url = fetch_url}
end

--# a local copy of a tool
local query_db <const> = query_db

function run(context)
  local rows = query_db{table = "users"}
  return rows.error and {error = rows.error} or {n = #rows}
end

--# tools handed in as parameters
local function count(query_db, name)
  local rows = query_db{table = name}
  if rows.error then return 0 end
  return #rows
end

function run(context)
  return {users = count(query_db, "users"), none = count(query_db, "empty")}
end

--# fields with the names of tools
local tools = {}
tools.send_email = 1
function tools.query_db() return "own" end

function run(context)
  return tools.query_db() .. tools.send_email
end

--# a table with fields of a group's names
function run(context)
  local own = {crm = {find_customer = "text"}}
  own.crm.list_orders = {1, 2}
  return {own.crm.find_customer, #own.crm.list_orders}
end

--# a parameter with the name of a tool
local sizes = list.map({{sleep = 6}, {sleep = 9}}, function(day) local sleep = day.sleep return sleep + 1 end)

function run(context)
  return sizes
end

--# _ENV that is only read
function run(context)
  local env = _ENV
  return type(env) .. (env["string"] == string and " same" or " other") --? plan_dynamic_tool
end

--# a member of a library that is only asked for
function run(context)
  local pack = table.pack or function(...) return {...} end
  return pack(1, 2)[2]
end
