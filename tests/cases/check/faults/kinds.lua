--# rows joined to a text
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  return {text = "Rows: " .. rows} --! plan_wrong_kind
end

--# a call joined to a text
function run(context)
  return "Result: " .. query_db{sql = "SELECT count(*) AS n FROM users"} --! plan_wrong_kind
end

--# a receipt in the middle of a text
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {text = "sent: " .. receipt .. "."} --! plan_wrong_kind
end

--# a boolean joined to a text
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {text = "delivered: " .. receipt.delivered} --! plan_wrong_kind
end

--# a list of a result joined to a text
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {text = "to " .. receipt.recipients} --! plan_wrong_kind
end

--# a nested table joined to a text
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {label = customer.name .. ", " .. customer.address} --! plan_wrong_kind
end

--# an item joined to a text
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  local lines = {}
  for _, order in ipairs(orders) do
    lines[#lines + 1] = "- " .. order --! plan_wrong_kind
  end
  return table.concat(lines, "\n")
end

--# the pieces of a text joined to a text
function run(context)
  local parts = text.split("a,b", ",")
  return {text = "parts: " .. parts} --! plan_wrong_kind
end

--# the parts of a date joined to a text
function run(context)
  return {text = "in " .. date.parts("2026-03-01")} --! plan_wrong_kind
end

--# an answer of a model asked for a field
function run(context)
  local answer = call_llm("Say hello")
  if answer.error then return {error = answer.error} end
  return {said = answer.text} --! plan_wrong_kind
end

--# an answer in JSON that was not read
function run(context)
  local answer = call_llm{prompt = "Judge it", format = "json"}
  if answer.error then return {error = answer.error} end
  return {score = answer.score * 10} --! plan_wrong_kind
end

--# a date asked for its year
function run(context)
  local day = date.parse("2026-03-01")
  return {year = day.year} --! plan_wrong_kind
end

--# a call asked for a field at once
function run(context)
  return {year = date.start_of("2026-03-01", "year").year} --! plan_wrong_kind
end

--# seconds asked for a field
function run(context)
  local at = date.unix("2026-03-01T00:00:00Z")
  return {at = at.seconds} --! plan_wrong_kind
end

--# a number of a result asked for a field
function run(context)
  local weather = get_weather{city = "Oslo"}
  if weather.error then return {error = weather.error} end
  return {celsius = weather.temperature.celsius} --! plan_wrong_kind
end

--# a text of a result asked for a field
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  return {first = customer.name.first} --! plan_wrong_kind
end

--# a method that texts do not have
function run(context)
  local answer = call_llm("List three")
  if answer.error then return {error = answer.error} end
  local lines = answer:split("\n") --! plan_wrong_kind
  return {n = #lines}
end

--# a method that a list does not have, on a text of the library
function run(context)
  local name = text.trim("  Ada ")
  return {short = name:truncate(2)} --! plan_wrong_kind
end

--# a result called
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  return {first = rows(1)} --! plan_wrong_kind
end

--# a text called
function run(context)
  local page = text.upper("a")
  return {page = page()} --! plan_wrong_kind
end

--# the result of a call called again
function run(context)
  return {n = stats.sum({1, 2})()} --! plan_wrong_kind
end

--# arithmetic on rows
function run(context)
  local rows = query_db{sql = "SELECT count(*) AS n FROM users"}
  if rows.error then return {error = rows.error} end
  return {n = rows + 1} --! plan_wrong_kind
end

--# arithmetic on an item
function run(context)
  local orders = crm.list_orders{customer_id = 1}
  if orders.error then return {error = orders.error} end
  local total = 0
  for _, order in ipairs(orders) do
    total = total + order --! plan_wrong_kind
  end
  return {total = total}
end

--# a text joined with plus
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  return {text = "Rows: " + #rows} --! plan_wrong_kind
end

--# rows compared with a number
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  if rows > 0 then return {any = true} end --! plan_wrong_kind
  return {any = false}
end

--# an answer compared with a number
function run(context)
  local answer = call_llm("How many?")
  if answer.error then return {error = answer.error} end
  if answer > 3 then return {many = true} end --! plan_wrong_kind
  return {many = false}
end

--# the length of a number
function run(context)
  local weather = get_weather{city = "Oslo"}
  if weather.error then return {error = weather.error} end
  return {n = #weather.temperature} --! plan_wrong_kind
end

--# a loop over rows themselves
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local names = {}
  for row in rows do --! plan_wrong_kind
    names[#names + 1] = row.name
  end
  return names
end

--# a loop over a call itself
function run(context)
  local names = {}
  for _, part in text.split("a,b", ",") do --! plan_wrong_kind
    names[#names + 1] = part
  end
  return names
end

--# ipairs over an answer
function run(context)
  local answer = call_llm("List three")
  if answer.error then return {error = answer.error} end
  local n = 0
  for _, line in ipairs(answer) do --! plan_wrong_kind
    n = n + #line
  end
  return {n = n}
end

--# pairs over a number of items
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local count = #rows
  for key in pairs(count) do print(key) end --! plan_wrong_kind
  return {count = count}
end

--# the failed result itself in a message
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then
    return {error = "failed: " .. rows} --! plan_wrong_kind
  end
  return {n = #rows}
end

--# a table of the context joined to a text
--# context: {"user": {"name": "Ada"}}
function run(context)
  return {text = "Hello " .. context.user} --! plan_wrong_kind
end

--# through another variable
function run(context)
  local first = crm.list_orders{customer_id = 1}
  if first.error then return {error = first.error} end
  local orders = first
  local label = "orders: "
  return {text = label .. orders} --! plan_wrong_kind
end

--# an answer that is a table joined to a text
function run(context)
  local answer = call_llm{prompt = "Which?", schema = {type = "object", properties = {label = {type = "string"}}, required = {"label"}}}
  if answer.error then return {error = answer.error} end
  return {text = "It is " .. answer} --! plan_wrong_kind
end
