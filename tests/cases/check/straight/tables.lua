--# groups filled in an inner loop, read by key
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local groups = {}
  for _, row in ipairs(rows) do
    if not groups[row.product] then
      groups[row.product] = {count = 0, total = 0}
    end
    local group = groups[row.product]
    group.count = group.count + 1
    group.total = group.total + row.total
  end
  return {nails = groups["nail"].count, saws = groups.saw.total}
end

--# lists of lists, filled by nested loops
function run(context)
  local grid = {}
  for y = 1, 3 do
    grid[y] = {}
    for x = 1, 4 do
      grid[y][x] = x * y
    end
  end
  return {corner = grid[3][4], first = grid[1][1]}
end

--# a list filled by a closure and then indexed
function run(context)
  local items = {}
  local function add(name, amount)
    items[#items + 1] = {name = name, amount = amount}
  end
  add("first", 1)
  add("second", 2)
  return {name = items[1].name, last = items[#items].amount}
end

--# a list filled in a helper that gets it
local function collect(into, rows)
  for _, row in ipairs(rows) do
    if row.active then table.insert(into, {id = row.id, label = row.name:upper()}) end
  end
end

function run(context)
  local found = {}
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  collect(found, users)
  if #found == 0 then return {none = true} end
  return {first = found[1].label, n = #found}
end

--# counters by key with `or 0`
function run(context)
  local events = query_db{table = "events"}
  if events.error then error(events.error) end
  local counts = {}
  for _, event in ipairs(events) do
    counts[event.kind] = (counts[event.kind] or 0) + 1
  end
  local lines = {}
  for kind, n in pairs(counts) do
    lines[#lines + 1] = kind .. ": " .. n
  end
  table.sort(lines)
  return {counts = counts, text = table.concat(lines, ", ")}
end

--# an index by id and a join by it
function run(context)
  local users = query_db{table = "users"}
  local orders = query_db{table = "orders"}
  if users.error or orders.error then
    return {error = users.error or orders.error}
  end
  local by_id = {}
  for _, user in ipairs(users) do by_id[user.id] = user end
  local out = {}
  for _, order in ipairs(orders) do
    local user = by_id[order.customer_id]
    out[#out + 1] = {order = order.id, who = user and user.name or "unknown"}
  end
  return out
end

--# the largest item by hand
function run(context)
  local products = query_db{table = "products"}
  if products.error then return {error = products.error} end
  local best
  for _, product in ipairs(products) do
    if best == nil or product.price > best.price then
      best = product
    end
  end
  if not best then return {none = true} end
  return {name = best.name, price = best.price}
end

--# removing while walking backwards
function run(context)
  local numbers = {5, 12, 7, 30, 2}
  for i = #numbers, 1, -1 do
    if numbers[i] < 6 then table.remove(numbers, i) end
  end
  return {left = numbers, n = #numbers}
end

--# a set, its size and its members in order
function run(context)
  local orders = query_db{table = "orders", columns = {"product"}}
  if orders.error then return {error = orders.error} end
  local seen, names = {}, {}
  for _, order in ipairs(orders) do
    if not seen[order.product] then
      seen[order.product] = true
      names[#names + 1] = order.product
    end
  end
  table.sort(names)
  return {names = names, has_saw = seen.saw == true, has_axe = seen.axe == true}
end

--# a matrix turned round
function run(context)
  local function transpose(m)
    local out = {}
    for i, row in ipairs(m) do
      for j, value in ipairs(row) do
        out[j] = out[j] or {}
        out[j][i] = value
      end
    end
    return out
  end
  local t = transpose({{1, 2, 3}, {4, 5, 6}})
  return {rows = #t, second = t[2][2]}
end

--# a stack and a queue
function run(context)
  local stack, queue = {}, {first = 1, last = 0}
  local function push(v) stack[#stack + 1] = v end
  local function pop() return table.remove(stack) end
  local function enqueue(v) queue.last = queue.last + 1 queue[queue.last] = v end
  local function dequeue()
    local v = queue[queue.first]
    queue[queue.first] = nil
    queue.first = queue.first + 1
    return v
  end
  push(1) push(2)
  enqueue("a") enqueue("b")
  return {popped = pop(), taken = dequeue(), left = #stack}
end

--# two levels of groups with `or {}`
function run(context)
  local people = query_db{table = "employees"}
  if people.error then return {error = people.error} end
  local tree = {}
  for _, person in ipairs(people) do
    tree[person.department] = tree[person.department] or {}
    local year = person.hired:sub(1, 4)
    tree[person.department][year] = tree[person.department][year] or {}
    table.insert(tree[person.department][year], person.name)
  end
  return {sales = tree.sales["2019"][1], years = list.keys(tree.support)}
end

--# merging tables, later ones win
local function merge(...)
  local out = {}
  for _, part in ipairs({...}) do
    for key, value in pairs(part) do out[key] = value end
  end
  return out
end

function run(context)
  local settings = merge({limit = 10, order = "name"}, {limit = 20}, context.settings or {})
  return {limit = settings.limit, order = settings.order}
end

--# a deep copy changes nothing of the first
local function copy(value)
  if type(value) ~= "table" then return value end
  local out = {}
  for k, v in pairs(value) do out[k] = copy(v) end
  return out
end

function run(context)
  local first = {name = "x", inner = {list = {1, 2}}}
  local second = copy(first)
  second.inner.list[1] = 99
  return {kept = first.inner.list[1], changed = second.inner.list[1]}
end

--# pairs of neighbours
function run(context)
  local readings = query_db{table = "readings", where = "sensor = ?", params = {"a"}}
  if readings.error then return {error = readings.error} end
  local jumps = {}
  for i = 2, #readings do
    local change = readings[i].value - readings[i - 1].value
    if math.abs(change) > 1 then
      jumps[#jumps + 1] = {at = readings[i].at, change = change}
    end
  end
  return {jumps = #jumps}
end

--# values kept in upvalues of closures
local function counter(start)
  local n = start or 0
  return {
    add = function(by) n = n + (by or 1) return n end,
    value = function() return n end,
  }
end

function run(context)
  local seen = counter()
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  for _, row in ipairs(rows) do
    if row.age >= 18 then seen.add() end
  end
  return {adults = seen.value()}
end

--# an object with methods
local Basket = {}
Basket.__index = Basket

function Basket.new() return setmetatable({items = {}, total = 0}, Basket) end
function Basket:add(name, price)
  table.insert(self.items, {name = name, price = price})
  self.total = self.total + price
  return self
end
function Basket:summary()
  return string.format("%d items, %.2f", #self.items, self.total)
end

function run(context)
  local basket = Basket.new():add("nail", 0.5):add("saw", 30)
  return {text = basket:summary(), first = basket.items[1].name}
end

--# a table as a switch
function run(context)
  local handlers = {
    high = function(t) return "call " .. (t.assignee or "nobody") end,
    normal = function(t) return "mail about " .. t.title end,
  }
  local tickets = query_db{table = "tickets"}
  if tickets.error then return {error = tickets.error} end
  local actions = {}
  for i, ticket in ipairs(tickets) do
    local handle = handlers[ticket.priority]
    actions[i] = handle and handle(ticket) or "wait"
  end
  return actions
end

--# list functions one after another
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local paid = list.filter(rows, {status = "paid"})
  local sorted = list.sort_by(paid, "total", "desc")
  local names = list.map(list.take(sorted, 2), function(row) return row.product end)
  return {names = names, sum = list.sum_by(paid, "total")}
end

--# groups of the library, walked by key
function run(context)
  local rows = query_db{table = "readings"}
  if rows.error then return {error = rows.error} end
  local out = {}
  for sensor, group in pairs(list.group_by(rows, "sensor")) do
    local summary = stats.summary(group, "value")
    out[sensor] = {n = summary.count, mean = math.round(summary.mean or 0, 1), last = group[#group].value}
  end
  return out
end

--# an item looked for and maybe not found
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  local eve = list.find(users, function(user) return user.name == "Eve" end)
  local zed = list.find(users, {name = "Zed"})
  return {eve = eve and eve.age, zed = zed ~= nil}
end

--# a memo table
local memo = {}
local function fib(n)
  if n < 2 then return n end
  if memo[n] then return memo[n] end
  local value = fib(n - 1) + fib(n - 2)
  memo[n] = value
  return value
end

function run(context)
  return {fib = fib(context.n or 30), kept = memo[10]}
end

--# rows turned into columns
function run(context)
  local rows = query_db{table = "readings"}
  if rows.error then return {error = rows.error} end
  local columns = {sensor = {}, value = {}}
  for _, row in ipairs(rows) do
    for name, column in pairs(columns) do
      column[#column + 1] = row[name]
    end
  end
  return {values = columns.value, first = columns.sensor[1]}
end

--# a running total in a new list
function run(context)
  local rows = query_db{table = "invoices", order_by = "due_date"}
  if rows.error then return {error = rows.error} end
  local sum, out = 0, {}
  for i = 1, #rows do
    sum = sum + rows[i].amount
    out[i] = {id = rows[i].id, so_far = sum}
  end
  return {rows = out, total = out[#out] and out[#out].so_far or 0}
end

--# a tree built from a flat list
function run(context)
  local people = query_db{table = "employees"}
  if people.error then return {error = people.error} end
  local nodes, roots = {}, {}
  for _, person in ipairs(people) do
    nodes[person.id] = {name = person.name, reports = {}}
  end
  for _, person in ipairs(people) do
    local node = nodes[person.id]
    if person.manager_id then
      table.insert(nodes[person.manager_id].reports, node)
    else
      table.insert(roots, node)
    end
  end
  local function depth(node)
    local most = 0
    for _, child in ipairs(node.reports) do most = math.max(most, depth(child)) end
    return most + 1
  end
  return {top = roots[1].name, depth = depth(roots[1])}
end
