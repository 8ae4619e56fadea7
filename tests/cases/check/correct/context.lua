--# fields of a known context
--# context: {"customer": {"id": 7, "name": "Ada", "email": "ada@example.com"}, "limit": 10}
function run(context)
  local orders = crm.list_orders{customer_id = context.customer.id, limit = context.limit}
  if orders.error then return {error = orders.error} end
  return {name = context.customer.name, orders = #orders}
end

--# a field that may be absent has a default
--# context: {"names": ["a", "b"]}
function run(context)
  local separator = context.separator or ", "
  return {text = table.concat(context.names, separator)}
end

--# absent fields are tested
--# context: {"city": "Oslo"}
function run(context)
  if context.units then
    return get_weather{city = context.city, units = context.units}
  end
  if context.days == nil then
    context.days = 3
  end
  return get_weather{city = context.city, days = context.days}
end

--# a variable takes an absent field and is tested
--# context: {"total": 12}
function run(context)
  local previous = context.previous
  if previous then
    context.change = context.total - previous
  end
  context.previous = context.total
  return context
end

--# the context as memory between runs
--# context: {"visits": 3}
function run(context)
  context.visits = (context.visits or 0) + 1
  context.first_seen = context.first_seen or "2025-01-01"
  context.history = context.history or {}
  table.insert(context.history, context.visits)
  return context
end

--# a list of objects
--# context: {"users": [{"name": "Ada", "age": 36}, {"name": "Bob"}]}
function run(context)
  local lines = {}
  for i, user in ipairs(context.users) do
    lines[i] = user.name .. " (" .. (user.age or "?") .. ")"
  end
  return {text = table.concat(lines, "\n"), first = context.users[1].name}
end

--# a list with an optional field used after a test
--# context: {"rows": [{"id": 1, "note": "x"}, {"id": 2}]}
function run(context)
  local notes = {}
  for _, row in ipairs(context.rows) do
    if row.note and #row.note > 0 then
      notes[#notes + 1] = row.note:upper()
    end
  end
  return {notes = notes}
end

--# nested objects
--# context: {"config": {"mail": {"to": "a@example.com", "subject": "Hi"}, "dry": false}}
function run(context)
  local mail = context.config.mail
  if context.config.dry then
    return {would_send = mail}
  end
  local receipt = send_email(mail.to, mail.subject, "Hello")
  return {ok = not receipt.error}
end

--# a map with dynamic keys
--# context: {"prices": {"apple": 1.2, "pear": 2}}
function run(context)
  local total = 0
  for name, price in pairs(context.prices) do
    total = total + price
  end
  local wanted = "apple"
  return {total = total, wanted = context.prices[wanted]}
end

--# fields added by dynamic keys
--# context: {"a": 1}
function run(context)
  for i = 1, 3 do
    context["field" .. i] = i
  end
  return {sum = context.field1 + context.field2 + context.field3}
end

--# null in the context
--# context: {"note": null, "id": 4}
function run(context)
  if context.note then
    context.length = #context.note
  end
  return {note = context.note or "none", id = context.id}
end

--# numbers stay numbers
--# context: {"amount": 12.5, "count": 3, "share": 0.25}
function run(context)
  local each = context.amount / context.count
  return {each = math.round(each, 2), share = context.share * context.amount, pieces = context.count // 2}
end

--# numbers of the context as arguments
--# context: {"article": "A-1", "pieces": 5}
function run(context)
  local done = set_stock{article = context.article, pieces = context.pieces}
  if done.error then return {error = done.error} end
  return {pieces = done.pieces}
end

--# a parameter by another name
--# context: {"city": "Rome"}
function run(input)
  local weather = get_weather(input.city)
  if weather.error then return weather.error end
  return {warm = weather.temperature > 25, city = input.city}
end

--# the context in a helper
--# context: {"users": [{"name": "Ada"}], "title": "Staff"}
local function heading(context)
  return "# " .. context.title
end

local function list_of(context)
  return list.map(context.users, function(user) return "- " .. user.name end)
end

function run(context)
  return {markdown = heading(context) .. "\n" .. table.concat(list_of(context), "\n")}
end

--# a helper fills the context
--# context: {"n": 3}
local function fill(target)
  target.squares = {}
  for i = 1, target.n do target.squares[i] = i * i end
end

function run(context)
  fill(context)
  context.sum = stats.sum(context.squares)
  return context
end

--# mixed kinds are looked at
--# context: {"ids": [1, "2", 3]}
function run(context)
  local total = 0
  for _, id in ipairs(context.ids) do
    if type(id) == "string" then
      total = total + tonumber(id)
    else
      total = total + id
    end
  end
  return {total = total}
end

--# dates as text
--# context: {"from": "2025-01-01", "to": "2025-03-31"}
function run(context)
  local days = date.diff(context.from, context.to, "days")
  local middle = date.add(context.from, days // 2)
  return {days = days, middle = middle, weekday = date.weekday_name(middle)}
end

--# the context is returned with a receipt
--# context: {"to": "ops@example.com"}
function run(context)
  local receipt = send_email(context.to, "Ping", "pong")
  context["receipt"] = receipt
  if context.receipt.error then
    context.failed = true
  end
  return context
end

--# empty tables of the context
--# context: {"items": [], "options": {}}
function run(context)
  if #context.items == 0 then
    return {none = true, mode = context.options.mode or "plain"}
  end
  return {first = context.items[1].name}
end

--# a copy of a part is changed
--# context: {"order": {"id": 1, "total": 10}}
function run(context)
  local order = context.order
  order.tax = order.total * 0.2
  order.gross = order.total + order.tax
  return {id = order.id, gross = order.gross}
end

--# a bool decides
--# context: {"send": true, "rows": [{"x": 1}]}
function run(context)
  if not context.send then
    return {skipped = true}
  end
  local body = transform_data(context.rows, nil, "markdown")
  if type(body) ~= "string" then return {error = body.error} end
  return {body = body}
end

--# long lists are looked at in part only
--# context: {"deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}}
function run(context)
  local deepest = context.deep.a.b.c.d.e.f.g.h.i
  return {deepest = deepest}
end

--# keys that are no names
--# context: {"first name": "Ada", "2024": {"sum": 3}}
function run(context)
  return {name = context["first name"], sum = context["2024"].sum}
end

--# the parameter is given another value
--# context: {"payload": "{}"}
function run(context)
  context = json.decode(context.payload)
  return {n = #context.items, first = context.items[1].name}
end

--# the parameter is made sure of
--# context: {"name": "Ada"}
function run(context)
  context = context or {}
  context.extra = context.extra or {}
  return {text = context.name .. #context.extra}
end

--# a local of the same name
--# context: {"name": "Ada"}
function run(context)
  local outer = context.name
  do
    local context = {colour = "red"}
    outer = outer .. context.colour
  end
  return {outer = outer}
end

--# a function with a parameter of the same name
--# context: {"rows": [{"a": 1}]}
local function sum(context)
  return context.x + context.y
end

function run(context)
  return {sum = sum({x = 1, y = context.rows[1].a})}
end

--# a part with a fallback
--# context: {"users": [{"name": "Ada"}]}
function run(context)
  local user = context.users[5] or {email = "none"}
  return {email = user.email .. "", name = user.name or "?"}
end

--# a number that a loop moves
--# context: {"city": "Oslo"}
function run(context)
  local days = 20
  while days > 10 do days = days - 1 end
  local weather = get_weather{city = context.city, days = days}
  return {ok = not weather.error}
end
