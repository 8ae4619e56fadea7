--# a misspelt field of a result
function run(context)
  local receipt = send_email("a@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {id = receipt.mesage_id} --! plan_unknown_field
end

--# a field of another tool's result
function run(context)
  local ticket = create_ticket{title = "T", priority = "low"}
  if ticket.error then return {error = ticket.error} end
  return {text = "ticket " .. ticket.number} --! plan_unknown_field
end

--# a field of a nested table
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {where = customer.address.town .. "!"} --! plan_unknown_field
end

--# a misspelt field of a nested table
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {where = customer.address.contry} --! plan_unknown_field
end

--# a field of an item
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  local total = 0
  for _, order in ipairs(orders) do
    total = total + order.amount --! plan_unknown_field
  end
  return {total = total}
end

--# a misspelt field of an item by place
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  return {state = orders[1].statsu} --! plan_unknown_field
end

--# a misspelt list of a result
function run(context)
  local weather = get_weather("Oslo")
  if weather.error then return {error = weather.error} end
  for _, day in ipairs(weather.forecasts) do --! plan_unknown_field
    context.last = day.date
  end
  return context
end

--# a field of a forecast
function run(context)
  local weather = get_weather("Oslo")
  if weather.error then return {error = weather.error} end
  local warm = {}
  for _, day in ipairs(weather.forecast) do
    if day.hihg > 20 then warm[#warm + 1] = day.date end --! plan_unknown_field
  end
  return warm
end

--# the message of a failed call
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then
    return {error = customer.message .. "!"} --! plan_unknown_field
  end
  return customer
end

--# a result indexed by a name it never had
function run(context)
  local done = set_stock("A", 1)
  if done.error then return {error = done.error} end
  return {text = "left: " .. done.count} --! plan_unknown_field
end

--# temperature in other words
function run(context)
  local weather = get_weather{city = "Oslo"}
  if weather.error then return {error = weather.error} end
  if weather.temp > 20 then --! plan_unknown_field
    return {warm = true}
  end
  return {warm = false}
end

--# a misspelt field by brackets
function run(context)
  local ticket = create_ticket{title = "T", priority = "low"}
  if ticket.error then return {error = ticket.error} end
  return {url = ticket["ulr"]} --! plan_unknown_field
end

--# through a local of a nested table
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local address = customer.address
  return {street = address.steet} --! plan_unknown_field
end

--# in an argument
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local orders = crm.list_orders{customer_id = customer.ident} --! plan_unknown_field
  return {ok = not orders.error}
end

--# in a helper
local function describe(order)
  return order.id .. " " .. order.status
end

function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  return {text = describe(orders[1]), sum = orders[1].totl} --! plan_unknown_field
end

--# delivered in other words, and looked at
function run(context)
  local receipt = send_email("a@example.com", "Hi", "x")
  if receipt.deliverd then --? plan_unknown_field
    return {ok = true}
  end
  return {error = receipt.error}
end

--# a part of a date that is not there
function run(context)
  local parts = date.parts("2025-06-15")
  return {text = "minute " .. parts.minutes} --? plan_unknown_field
end

--# a figure of a summary that is not there
function run(context)
  local summary = stats.summary({1, 2, 3})
  return {text = "mean " .. summary.average} --? plan_unknown_field
end

--# a field that the schema of an answer does not have
function run(context)
  local answer = call_llm{prompt = "Which?", schema = {type = "object", properties = {label = {type = "string"}}, required = {"label"}, additionalProperties = false}}
  if answer.error then return {error = answer.error} end
  return {label = answer.lable} --! plan_unknown_field
end
