--# what a search may not find
function run(context)
  local user = list.find({{id = 1, name = "Ada"}}, {id = 2})
  local n = list.index_of({1, 2}, 3)
  local day = stats.mode({})
  local mean = stats.mean({})
  return {mean = mean.value, user = user, n = n, day = day} --? plan_nil_index --! plan_wrong_kind
end

--# an optional part of a result
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {tier = customer.tier:upper()} --? plan_nil_index
end

--# an optional note of an item
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  local notes = {}
  for i, order in ipairs(orders) do
    notes[i] = order.note:lower() --? plan_nil_index
  end
  return notes
end

--# a local that is nil
function run(context)
  local settings
  return {size = settings.size} --? plan_nil_index
end

--# a local set to nil
function run(context)
  local rows = {a = 1}
  rows = nil
  return {a = rows.a} --? plan_nil_index
end

--# nil is called
function run(context)
  local callback = nil
  return {value = callback()} --? plan_nil_index
end

--# the street of an address
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {short = customer.address.street:sub(1, 10)} --? plan_nil_index
end

--# the e-mail of a customer
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local user = customer.email:match("^[^@]+") --? plan_nil_index
  return {user = user}
end
