--# a misspelt local that is indexed
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {id = reciept.message_id} --! plan_unknown_tool
end

--# a misspelt tool put into a variable
function run(context)
  local q = query_bd --! plan_unknown_tool
  local rows = q and {} or {}
  return {n = #rows}
end

--# a misspelt local that is returned
function run(context)
  local total = 0
  for i = 1, 3 do total = total + i end
  return totl --! plan_unknown_tool
end

--# a misspelt local in the table that is returned
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local count = #rows
  return {count = cuont} --! plan_unknown_tool
end

--# a misspelt argument of a tool
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local body = csv.encode(rows)
  local receipt = send_email("ops@example.com", "Users", bdoy) --! plan_unknown_tool
  return {ok = not receipt.error}
end

--# a misspelt list in ipairs
function run(context)
  local orders = query_db{table = "orders"}
  if orders.error then return {error = orders.error} end
  local n = 0
  for _, order in ipairs(ordes) do n = n + order.total end --! plan_unknown_tool
  return {n = n}
end

--# a misspelt counter in arithmetic
function run(context)
  local count = 0
  for i = 1, 4 do
    count = coutn + i --! plan_unknown_tool
  end
  return {count = count}
end

--# a misspelt name joined to a text
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local name = customer.name
  return {text = "Dear " .. nmae .. ","} --! plan_unknown_tool
end

--# a local of an inner block, read behind it
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  if #rows > 0 then
    local first = rows[1].name
    print(first)
  end
  return {first = first} --! plan_unknown_tool
end

--# a local of a loop, read behind it
function run(context)
  local rows = query_db{table = "products"}
  if rows.error then return {error = rows.error} end
  for _, row in ipairs(rows) do
    local price = row.price
    if price > 10 then print(row.name) end
  end
  return {last = price} --! plan_unknown_tool
end

--# a local of another function
local function load_rows()
  local rows = query_db{table = "users"}
  if rows.error then return nil end
  return rows
end

function run(context)
  local loaded = load_rows()
  if not loaded then return {error = "no rows"} end
  return {n = #rows} --! plan_unknown_tool
end

--# a local function used above its declaration
local function report(rows)
  return header(rows) .. "\n" .. #rows --! plan_unknown_tool
end

local function header(rows)
  return "Rows: " .. #rows
end

function run(context)
  return {text = report({1, 2})}
end

--# a constant that was never written
function run(context)
  local rows = query_db{table = "orders", limit = MAX_ROWS} --! plan_unknown_tool
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# a parameter of another name
function run(ctx)
  local wanted = context.city --! plan_unknown_tool
  return {wanted = wanted, seen = ctx ~= nil}
end

--# the context's field without the context
function run(context)
  local receipt = send_email{to = recipient, subject = "Hi", body = "x"} --! plan_unknown_tool
  return {ok = not receipt.error}
end

--# a field written into a table that is not there
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  result.count = #rows --! plan_unknown_tool
  return {ok = true}
end

--# the length of a list that is not there
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  return {n = #user_rows} --! plan_unknown_tool
end

--# a callback that is not there
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  return list.map(users, get_name) --! plan_unknown_tool
end

--# True of another language
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  local n = 0
  for _, user in ipairs(users) do
    if user.active == True then n = n + 1 end --! plan_unknown_tool
  end
  return {n = n}
end

--# False in a result
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {sent = False} end --! plan_unknown_tool
  return {sent = true}
end

--# a null that is indexed
function run(context)
  return {value = undefined.value} --! plan_unknown_tool
end

--# printed and misspelt
function run(context)
  local summary = "three"
  print(sumary) --! plan_unknown_tool
  return {summary = summary}
end

--# a name of a library without its call
function run(context)
  return {names = list.map({" a ", "b "}, text.trimm)} --! plan_unknown_tool
end

--# a tool of a server that is not there, as a value
function run(context)
  local find = crm.find_costumer --! plan_unknown_tool
  local customer = find{id = 1}
  return {ok = not customer.error}
end

--# a member of a tool
function run(context)
  local rows = query_db.query("SELECT 1") --! plan_unknown_tool
  return {ok = not rows.error}
end

--# looked at in one place and used in another
function run(context)
  local limit = settings or 5 --? plan_unknown_tool
  return {limit = limit, city = settings.city} --! plan_unknown_tool
end

--# an ordered comparison with a name that is not there
function run(context)
  local rows = query_db{table = "products"}
  if rows.error then return {error = rows.error} end
  local low = list.filter(rows, function(row) return row.stock < threshold end) --! plan_unknown_tool
  return {low = #low}
end

--# compared with what is not there
function run(context)
  if context.status == DONE then return {ok = true} end --? plan_unknown_tool
  return {ok = false}
end

--# a guard on a name that nothing sets
function run(context)
  if verbose then print("begins") end --? plan_unknown_tool
  return context
end

--# a default for a name that nothing sets
function run(context)
  local options = options or {} --? plan_unknown_tool
  return {n = #options}
end
