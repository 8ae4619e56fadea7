--# a record that the plan gives items
function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  customer[1] = customer.name
  return {n = #customer}
end

--# a record that table.insert gives items
function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  table.insert(customer, "x")
  return {n = #customer}
end

--# a list or a record
function run(context)
  local found = must(crm.find_customer{id = 1}, "customer 1")
  local customers = found[1] and found or {found}
  return {n = #customers}
end

--# asked what it is
function run(context)
  local found = must(crm.find_customer{id = 1}, "customer 1")
  if list.is_list(found) then return {n = #found} end
  return {name = found.name}
end

--# names and values of a record
function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  local names = list.keys(customer)
  for name in pairs(customer) do names[#names + 1] = name end
  return {names = names, values = list.values(customer)}
end

--# a variable that is a list later
function run(context)
  local found = crm.find_customer{id = 1}
  if found.error then return {error = found.error} end
  found = {found}
  return {n = #found}
end

--# must of a result that may be nil
function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  local city = must(customer.address, "an address").city
  return {city = city}
end
