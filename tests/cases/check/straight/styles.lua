--# everything in one helper table
local report = {lines = {}}

function report.add(fmt, ...)
  report.lines[#report.lines + 1] = string.format(fmt, ...)
end

function report.text()
  return table.concat(report.lines, "\n")
end

function run(context)
  local orders = query_db{table = "orders"}
  if orders.error then return {error = orders.error} end
  for _, order in ipairs(orders) do report.add("%d %s", order.id, order.product) end
  return {text = report.text(), first = report.lines[1]}
end

--# run assigned as a value
local function summarise(rows)
  local total = 0
  for _, row in ipairs(rows) do total = total + (row.total or 0) end
  return {count = #rows, total = total}
end

run = function(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  return summarise(rows)
end

--# constants with attributes
local TABLE <const> = "tickets"
local OPEN <const> = "open"
local WEIGHT <const> = {low = 1, normal = 2, high = 5}

function run(context)
  local tickets = query_db{table = TABLE}
  if tickets.error then return {error = tickets.error} end
  local weight = 0
  for _, ticket in ipairs(tickets) do
    if ticket.status == OPEN then weight = weight + (WEIGHT[ticket.priority] or 0) end
  end
  return {weight = weight}
end

--# steps with names, each a function
local steps = {}

steps[1] = {name = "read", fn = function(state)
  local rows = query_db{table = "products"}
  if rows.error then return rows.error end
  state.rows = rows
end}

steps[2] = {name = "count", fn = function(state)
  state.n = #state.rows
end}

function run(context)
  local state = {}
  for _, step in ipairs(steps) do
    local problem = step.fn(state)
    if problem then return {failed = step.name, why = problem} end
  end
  return {n = state.n}
end

--# type tests of a mixed list
function run(context)
  local function show(value)
    local kind = type(value)
    if kind == "table" then
      if list.is_list(value) then
        return "[" .. table.concat(list.map(value, show), ",") .. "]"
      end
      local parts = {}
      for _, key in ipairs(list.keys(value)) do parts[#parts + 1] = key .. "=" .. show(value[key]) end
      return "{" .. table.concat(parts, ",") .. "}"
    elseif kind == "string" then
      return '"' .. value .. '"'
    end
    return tostring(value)
  end
  return show({a = 1, b = {true, "x"}, c = 2.5})
end

--# semicolons and one line
function run(context) local n = 0; for i = 1, 3 do n = n + i; end; return {n = n}; end

--# a function given back by a function
local function multiplier(by)
  return function(x) return x * by end
end

function run(context)
  local double, triple = multiplier(2), multiplier(3)
  return {list.map({1, 2, 3}, double), triple(double(1))}
end

--# a pipeline by name
local filters = {
  adults = function(rows) return list.filter(rows, function(r) return r.age >= 18 end) end,
  named = function(rows) return list.map(rows, function(r) return r.name end) end,
  sorted = function(rows) return list.sort(rows) end,
}

function run(context)
  local value = query_db{table = "users"}
  if value.error then return {error = value.error} end
  for _, name in ipairs({"adults", "named", "sorted"}) do
    value = filters[name](value)
  end
  return value
end

--# classes with inheritance
local Shape = {}
Shape.__index = Shape
function Shape.new(name) return setmetatable({name = name}, Shape) end
function Shape:area() return 0 end
function Shape:describe() return self.name .. " " .. self:area() end

local Square = setmetatable({}, {__index = Shape})
Square.__index = Square
function Square.new(side)
  local self = setmetatable(Shape.new("square"), Square)
  self.side = side
  return self
end
function Square:area() return self.side * self.side end

function run(context)
  return {text = Square.new(3):describe(), plain = Shape.new("dot"):describe()}
end

--# operators of a metatable
local Money = {}
Money.__index = Money
Money.__add = function(a, b) return Money.of(a.cents + b.cents) end
Money.__eq = function(a, b) return a.cents == b.cents end
Money.__lt = function(a, b) return a.cents < b.cents end
Money.__tostring = function(m) return string.format("%d.%02d", m.cents // 100, m.cents % 100) end
function Money.of(cents) return setmetatable({cents = cents}, Money) end

function run(context)
  local sum = Money.of(1050) + Money.of(295)
  return {text = tostring(sum), same = sum == Money.of(1345), less = Money.of(1) < sum}
end

--# defaults for options
local function with_defaults(options)
  options = options or {}
  return {
    limit = options.limit or 10,
    verbose = options.verbose == true,
    name = options.name or "report",
  }
end

function run(context)
  local options = with_defaults(context.options)
  if options.verbose then print("limit " .. options.limit) end
  local rows = query_db{table = "orders", limit = options.limit}
  if rows.error then return {error = rows.error} end
  return {name = options.name, n = #rows}
end

--# a global helper and a global table
LIMITS = {small = 10, large = 1000}

function size_of(rows)
  if #rows < LIMITS.small then return "small" end
  if #rows < LIMITS.large then return "medium" end
  return "large"
end

function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  return {size = size_of(rows)}
end

--# printed progress
function run(context)
  print("reading")
  local rows = query_db{table = "readings"}
  if rows.error then
    print("failed", rows.code)
    return {error = rows.error}
  end
  print("read", #rows, "rows")
  local highest = -math.huge
  for _, row in ipairs(rows) do
    if row.value > highest then highest = row.value end
  end
  print(("highest %.1f"):format(highest))
  return {highest = highest}
end

--# the context changed and given back
function run(context)
  context.runs = (context.runs or 0) + 1
  context.log = context.log or {}
  table.insert(context.log, "run " .. context.runs)
  if #context.log > 10 then table.remove(context.log, 1) end
  return context
end

--# and-or chains
function run(context)
  local n = context.n or 7
  local size = n < 0 and "negative" or n == 0 and "zero" or n < 10 and "digit" or "number"
  local odd = n % 2 == 1
  return {size = size, parity = odd and "odd" or "even", sign = n > 0 and 1 or -1}
end

--# a queue of work that grows
function run(context)
  local tree = {name = "root", children = {
    {name = "a", children = {{name = "a1"}}},
    {name = "b"},
  }}
  local queue, names = {tree}, {}
  local at = 1
  while queue[at] do
    local node = queue[at]
    at = at + 1
    names[#names + 1] = node.name
    for _, child in ipairs(node.children or {}) do queue[#queue + 1] = child end
  end
  return {names = names, n = at - 1}
end

--# shadowed names inside blocks
function run(context)
  local value = 1
  local out = {}
  for value = 1, 2 do out[#out + 1] = value * 10 end
  if value == 1 then
    local value = "inner"
    out[#out + 1] = value
  end
  out[#out + 1] = value
  return out
end

--# a table of functions called by data
local math_ops = {
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
}

function run(context)
  local stack = {}
  for token in ("3 4 + 2 *"):gmatch("%S+") do
    local op = math_ops[token]
    if op then
      local b, a = table.remove(stack), table.remove(stack)
      stack[#stack + 1] = op(a, b)
    else
      stack[#stack + 1] = tonumber(token)
    end
  end
  return {result = stack[1], depth = #stack}
end

--# results turned into a flat list of strings
function run(context)
  local tickets = query_db{table = "tickets"}
  if tickets.error then return {error = tickets.error} end
  local out = {}
  for _, ticket in ipairs(tickets) do
    local who = ticket.assignee
    if who == nil then who = "unassigned" end
    table.insert(out, #out + 1, ticket.id .. ":" .. who)
  end
  return out
end

--# a window over a list
function run(context)
  local values = {3, 5, 2, 8, 6, 1}
  local best, best_at = 0, 0
  for i = 1, #values - 2 do
    local sum = values[i] + values[i + 1] + values[i + 2]
    if sum > best then best, best_at = sum, i end
  end
  return {best = best, from = best_at}
end

--# unpack into arguments
function run(context)
  local values = {9, 4, 7}
  local most, least = math.max(table.unpack(values)), math.min(table.unpack(values))
  local function join(a, b, c) return a .. "-" .. b .. "-" .. c end
  return {most = most, least = least, text = join(table.unpack(values))}
end

--# local functions declared before they are used
local render, heading

function heading(level, title)
  return ("#"):rep(level) .. " " .. title
end

function render(sections)
  local out = {}
  for i, section in ipairs(sections) do
    out[#out + 1] = heading(i, section.title)
    for _, line in ipairs(section.lines) do out[#out + 1] = "- " .. line end
  end
  return table.concat(out, "\n")
end

function run(context)
  return render({{title = "One", lines = {"a", "b"}}, {title = "Two", lines = {}}})
end

--# names of fields worked out
function run(context)
  local rows = query_db{table = "employees"}
  if rows.error then return {error = rows.error} end
  local columns = {"name", "department", "salary"}
  local sheet = {}
  for _, row in ipairs(rows) do
    local line = {}
    for _, column in ipairs(columns) do line[#line + 1] = tostring(row[column]) end
    sheet[#sheet + 1] = table.concat(line, "\t")
  end
  return {sheet = sheet, widest = #sheet[1]}
end

--# whole numbers and fractions
function run(context)
  local total, people = 100, 7
  local share, rest = total // people, total % people
  local exact = total / people
  return {
    share = share,
    rest = rest,
    exact = math.round(exact, 3),
    whole = math.type(share) == "integer",
    ceiling = math.ceil(exact),
    same = math.tointeger(14.0) == 14,
  }
end

--# nothing but the context
--# context: {"user": {"name": "Ada", "tags": ["x", "y"]}, "limit": 2}
function run(context)
  local user = context.user
  local tags = {}
  for i = 1, math.min(context.limit, #user.tags) do
    tags[i] = user.tags[i]:upper()
  end
  return {greeting = "Hello " .. user.name, tags = tags, nick = context.nick or user.name:lower()}
end
