--# a record gone over by a helper
local function count(customers)
  local n = 0
  for _ in ipairs(customers) do n = n + 1 end --! plan_wrong_kind
  return n
end

function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {n = count(customer)}
end

--# a wrong field behind a helper that guards
local function ok(result, what)
  if result.error then error(what .. ": " .. result.error) end
  return result
end

function run(context)
  local customer = ok(crm.find_customer{id = 1}, "customer 1")
  return {name = customer.nam} --! plan_unknown_field
end

--# a record behind a helper that guards
local function ok(result, what)
  if result.error then error(what .. ": " .. result.error) end
  return result
end

function run(context)
  local customers = ok(crm.find_customer{id = 1}, "customer 1")
  return {n = #customers} --! plan_wrong_kind
end

--# a wrong field inside a helper
local function line(customer)
  return customer.name .. " in " .. customer.adress.city --! plan_unknown_field
end

function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  return {line = line(customer)}
end

--# a helper that calls a helper
local function count(customers)
  return #customers --! plan_wrong_kind
end

local function report(customers)
  return "There are " .. count(customers) .. " customers"
end

function run(context)
  return {text = report(must(crm.find_customer{id = 1}, "customers"))}
end

--# a global helper
function names_of(customers)
  return list.pluck(customers, "name") --! plan_wrong_kind
end

function run(context)
  return names_of(must(crm.find_customer{id = 1}, "customers"))
end
