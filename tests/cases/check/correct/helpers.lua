--# a helper for records of two kinds
local function name_of(thing)
  return thing.name or thing.sku or "?"
end

function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  local orders = must(crm.list_orders{customer_id = 1}, "orders")
  local names = {name_of(customer)}
  for _, order in ipairs(orders) do names[#names + 1] = name_of(order) end
  return names
end

--# a helper for lists and records
local function as_list(value)
  if value.id then return {value} end
  return value
end

function run(context)
  local customers = as_list(must(crm.find_customer{id = 1}, "customer 1"))
  local orders = as_list(must(crm.list_orders{customer_id = 1}, "orders"))
  return {#customers, #orders}
end

--# a helper that is passed on
local function count(items)
  return #items
end

function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  local ok, n = pcall(count, {customer})
  return {ok = ok, n = n, more = list.map({{customer}}, count)}
end

--# a helper that calls itself
local function depth(node)
  if not node.inner then return 1 end
  return 1 + depth(node.inner)
end

function run(context)
  return depth(must(crm.find_customer{id = 1}, "customer 1"))
end

--# a helper with two names
local function count(items) return #items end

function run(context)
  local other = count
  count({1, 2})
  return other({1}) + #must(crm.list_orders{customer_id = 1}, "orders")
end

--# a helper that guards, for several tools
local function ok(result, what)
  if type(result) == "table" and result.error then error(what .. ": " .. result.error) end
  return result
end

function run(context)
  local customer = ok(crm.find_customer{id = 1}, "customer 1")
  local orders = ok(crm.list_orders{customer_id = customer.id}, "orders")
  local total = 0
  for _, order in ipairs(orders) do total = total + 1 end
  return {name = customer.name, city = customer.address.city, n = #orders, total = total}
end

--# a helper with an argument that may be nil
local function greet(customer, title)
  if not customer then return "Dear customer" end
  return "Dear " .. (title and title .. " " or "") .. customer.name
end

function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {text = greet(nil)} end
  return {text = greet(customer), formal = greet(customer, "Dr.")}
end
