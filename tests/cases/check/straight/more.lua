--# late invoices by customer, one mail for all
--# context: {"today": "2026-05-10", "to": "ops@example.com"}
function run(context)
  local invoices = query_db{table = "invoices", where = {paid = false}}
  if invoices.error then return {error = invoices.error} end
  local by_customer = {}
  for _, invoice in ipairs(invoices) do
    local days = date.diff(invoice.due_date, context.today)
    if days > 0 then
      local entry = by_customer[invoice.customer]
      if not entry then
        entry = {sum = 0, oldest = 0, ids = {}}
        by_customer[invoice.customer] = entry
      end
      entry.sum = entry.sum + invoice.amount
      entry.oldest = math.max(entry.oldest, days)
      entry.ids[#entry.ids + 1] = invoice.id
    end
  end
  local lines = {}
  for _, name in ipairs(list.keys(by_customer)) do
    local entry = by_customer[name]
    lines[#lines + 1] = ("%s: %.2f, %d days, invoices %s"):format(
      name, entry.sum, entry.oldest, table.concat(entry.ids, ", "))
  end
  if #lines == 0 then return {sent = false} end
  local receipt = send_email(context.to, #lines .. " customers owe money", table.concat(lines, "\n"))
  if receipt.error then return {sent = false, error = receipt.error} end
  return {sent = true, customers = #lines, ada = by_customer.Ada and by_customer.Ada.sum}
end

--# salaries by department with a share of the whole
function run(context)
  local people = query_db{table = "employees"}
  if people.error then return {error = people.error} end
  local total = stats.sum(people, "salary")
  local out = {}
  for department, members in pairs(list.group_by(people, "department")) do
    local sum = list.sum_by(members, "salary")
    out[department] = {
      n = #members,
      mean = math.round(stats.mean(members, "salary") or 0),
      share = total > 0 and math.round(100 * sum / total, 1) or 0,
    }
  end
  return out
end

--# customers kept apart by how much they buy
local LEVELS = {{name = "gold", least = 100}, {name = "silver", least = 40}, {name = "basic", least = 0}}

local function level_of(total)
  for _, level in ipairs(LEVELS) do
    if total >= level.least then return level.name end
  end
  return "none"
end

function run(context)
  local orders = query_db{table = "orders"}
  if orders.error then return {error = orders.error} end
  local totals = {}
  for _, order in ipairs(orders) do
    if order.status ~= "cancelled" then
      totals[order.customer_id] = (totals[order.customer_id] or 0) + order.total
    end
  end
  local out = {}
  for id, total in pairs(totals) do
    out[#out + 1] = {id = id, total = total, level = level_of(total)}
  end
  return list.sort_by(out, "total", "desc")
end

--# alarms of sensors, only where they come twice
function run(context)
  local readings = query_db{table = "readings", order_by = "at"}
  if readings.error then return {error = readings.error} end
  local limit = context.limit or 21
  local runs, alarms = {}, {}
  for _, reading in ipairs(readings) do
    local n = runs[reading.sensor] or 0
    if reading.value > limit then n = n + 1 else n = 0 end
    runs[reading.sensor] = n
    if n == 2 then table.insert(alarms, reading.sensor .. " at " .. reading.at) end
  end
  if #alarms == 0 then return {alarms = 0} end
  local ticket = create_ticket{title = "Sensors too warm", priority = "urgent", body = table.concat(alarms, "\n")}
  if ticket.error then return {error = ticket.error, alarms = #alarms} end
  return {alarms = #alarms, ticket = ticket.id}
end

--# a digest by a model, with a plain one where it fails
function run(context)
  local tickets = query_db{table = "tickets"}
  if tickets.error then return {error = tickets.error} end
  local function plain()
    return table.concat(list.map(tickets, function(t) return t.title end), "; ")
  end
  local digest = call_llm{prompt = "Digest: " .. json.encode(tickets), max_tokens = 200}
  local body
  if digest.error or text.is_blank(digest) then
    body = plain()
  else
    body = text.trim(digest)
  end
  local receipt = send_email("ops@example.com", "Digest", body)
  return {ok = receipt.error == nil, length = #body}
end

--# classification in parallel, three at once
function run(context)
  local tickets = query_db{table = "tickets"}
  if tickets.error then return {error = tickets.error} end
  local labels = {}
  for _, chunk in ipairs(list.chunk(tickets, 3)) do
    local answers = parallel(list.map(chunk, function(ticket)
      return function() return call_llm{prompt = "Classify: " .. ticket.title, format = "json"} end
    end))
    for i, answer in ipairs(answers) do
      local id = chunk[i].id
      if answer.error then
        labels[#labels + 1] = {id = id, label = "unknown"}
      else
        labels[#labels + 1] = {id = id, label = json.decode(answer).sentiment or "none"}
      end
    end
  end
  return {labels = labels, first = labels[1] and labels[1].label}
end

--# duplicates found by a key of two fields
function run(context)
  local events = query_db{table = "events"}
  if events.error then return {error = events.error} end
  local seen, twice = {}, {}
  for i, event in ipairs(events) do
    local key = event.user_id .. "/" .. event.kind
    local first = seen[key]
    if first then
      twice[#twice + 1] = {first = events[first].id, again = event.id}
    else
      seen[key] = i
    end
  end
  return {twice = twice, distinct = #list.keys(seen)}
end

--# a price list compared with the shop
function run(context)
  local body = fetch_url("https://example.com/prices.csv")
  local products = query_db{table = "products"}
  if body.error then return {error = body.error} end
  if products.error then return {error = products.error} end
  local theirs = list.index_by(csv.parse(body, {numbers = true}), "name")
  local changes = {}
  for _, product in ipairs(products) do
    local other = theirs[product.name]
    if other and other.price ~= product.price then
      changes[product.name] = math.round(other.price - product.price, 2)
    end
  end
  return {changes = changes, n = #list.keys(changes)}
end

--# funnel of events
function run(context)
  local events = query_db{table = "events"}
  if events.error then return {error = events.error} end
  local steps = {"login", "buy", "logout"}
  local reached = {}
  for _, step in ipairs(steps) do reached[step] = {} end
  for _, event in ipairs(events) do
    local users = reached[event.kind]
    if users then users[event.user_id] = true end
  end
  local out, before = {}, nil
  for i, step in ipairs(steps) do
    local n = 0
    for _ in pairs(reached[step]) do n = n + 1 end
    out[i] = {step = step, users = n, rate = before and before > 0 and n / before or 1}
    before = n
  end
  return out
end

--# a week of forecasts in words
function run(context)
  local weather = get_weather{city = "Oslo", days = 2}
  if weather.error then return {error = weather.error} end
  local words = {}
  for i, day in ipairs(weather.forecast) do
    local name = date.weekday_name(day.date)
    local rain = day.rain and "rain" or "dry"
    words[i] = ("%s: %d to %d, %s"):format(name:sub(1, 3), math.floor(day.low), math.ceil(day.high), rain)
  end
  return {text = table.concat(words, "; "), dry = #list.filter(weather.forecast, {rain = false})}
end

--# a budget spent in the order of need
--# context: {"budget": 120, "wishes": [{"name": "saw", "price": 30, "need": 2}, {"name": "drill", "price": 99, "need": 5}, {"name": "nail", "price": 1, "need": 1}]}
function run(context)
  local wishes = list.sort_by(context.wishes, "need", "desc")
  local left, bought = context.budget, {}
  for _, wish in ipairs(wishes) do
    if wish.price <= left then
      left = left - wish.price
      bought[#bought + 1] = wish.name
    end
  end
  return {bought = bought, left = left, first = bought[1]}
end

--# names of people made alike
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  local function normal(name)
    local trimmed = text.trim(name):gsub("%s+", " ")
    return text.title(trimmed)
  end
  local out = {}
  for _, user in ipairs(users) do
    local city = user.city
    if city ~= nil then city = text.upper(city) end
    out[#out + 1] = normal(user.name) .. (city and (", " .. city) or "")
  end
  return out
end

--# a simple moving mean
function run(context)
  local readings = query_db{table = "readings"}
  if readings.error then return {error = readings.error} end
  local window, means = {}, {}
  for _, reading in ipairs(readings) do
    window[#window + 1] = reading.value
    if #window > 3 then table.remove(window, 1) end
    local sum = 0
    for _, value in ipairs(window) do sum = sum + value end
    means[#means + 1] = math.round(sum / #window, 2)
  end
  return {means = means, last = means[#means]}
end

--# what the pages link to, without doubles
function run(context)
  local pages = fetch_url({"https://example.com/a", "https://example.com/b"}, true)
  if pages.error then return {error = pages.error} end
  local words = {}
  for _, url in ipairs(list.keys(pages)) do
    local body = pages[url]
    if not body.error then
      for word in body:gmatch("%a+") do words[#words + 1] = word end
    end
  end
  return {words = list.unique(words), n = #words}
end

--# roman numerals
local NUMERALS = {{10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}

local function roman(n)
  local out = ""
  for _, pair in ipairs(NUMERALS) do
    local value, sign = pair[1], pair[2]
    while n >= value do
      out = out .. sign
      n = n - value
    end
  end
  return out
end

function run(context)
  return list.map({4, 9, 14}, roman)
end

--# an invoice as text, lines aligned
--# context: {"lines": [{"what": "nail", "n": 100, "price": 0.5}, {"what": "saw", "n": 1, "price": 30}], "tax": 25}
function run(context)
  local out, net = {}, 0
  for _, line in ipairs(context.lines) do
    local amount = line.n * line.price
    net = net + amount
    out[#out + 1] = text.pad_right(line.what, 8) .. text.pad_left(string.format("%.2f", amount), 10)
  end
  local tax = net * context.tax / 100
  out[#out + 1] = ("-"):rep(18)
  out[#out + 1] = text.pad_right("total", 8) .. text.pad_left(string.format("%.2f", net + tax), 10)
  return {text = table.concat(out, "\n"), net = net}
end

--# a vote with ties
function run(context)
  local votes = {"red", "blue", "red", "green", "blue"}
  local counts = list.count_by(votes, function(v) return v end)
  local most, winners = 0, {}
  for colour, n in pairs(counts) do
    if n > most then
      most, winners = n, {colour}
    elseif n == most then
      winners[#winners + 1] = colour
    end
  end
  table.sort(winners)
  return {winners = winners, tie = #winners > 1, first = winners[1]}
end

--# who has no manager, and who has the most reports
function run(context)
  local people = query_db{table = "employees"}
  if people.error then return {error = people.error} end
  local reports, names = {}, {}
  for _, person in ipairs(people) do
    names[person.id] = person.name
    if person.manager_id ~= nil then
      reports[person.manager_id] = (reports[person.manager_id] or 0) + 1
    end
  end
  local busiest
  for id, n in pairs(reports) do
    if not busiest or n > reports[busiest] then busiest = id end
  end
  return {busiest = busiest and names[busiest], reports = busiest and reports[busiest] or 0}
end

--# changes between two lists by id
function run(context)
  local old = {{id = 1, v = "a"}, {id = 2, v = "b"}}
  local new = {{id = 2, v = "B"}, {id = 3, v = "c"}}
  local before, after = list.index_by(old, "id"), list.index_by(new, "id")
  local added, removed, changed = {}, {}, {}
  for id, item in pairs(after) do
    local was = before[id]
    if not was then
      added[#added + 1] = id
    elseif was.v ~= item.v then
      changed[#changed + 1] = {id = id, from = was.v, to = item.v}
    end
  end
  for id in pairs(before) do
    if not after[id] then removed[#removed + 1] = id end
  end
  return {added = added, removed = removed, changed = changed}
end

--# minutes as hours and minutes
local function clock(minutes)
  return ("%d:%02d"):format(minutes // 60, minutes % 60)
end

function run(context)
  local total = 0
  for _, entry in ipairs({"1:30", "0:45", "bad", "2:05"}) do
    local h, m = entry:match("^(%d+):(%d%d)$")
    if h then total = total + tonumber(h) * 60 + tonumber(m) end
  end
  return {total = clock(total), minutes = total}
end

--# an order checked line by line before it is sent
--# context: {"lines": [{"article": "nail", "n": 5}, {"article": "saw", "n": 2}]}
function run(context)
  local products = query_db{table = "products"}
  if products.error then return {error = products.error} end
  local stock = {}
  for _, product in ipairs(products) do stock[product.name] = product.stock end
  local problems = {}
  for i, line in ipairs(context.lines) do
    local left = stock[line.article]
    if left == nil then
      problems[#problems + 1] = "line " .. i .. ": no article " .. line.article
    elseif left < line.n then
      problems[#problems + 1] = "line " .. i .. ": only " .. left .. " left"
    end
  end
  if #problems > 0 then return {ok = false, problems = problems} end
  local done = set_stock{article = "nail", pieces = stock.nail - context.lines[1].n} --? plan_nil_index
  if done.error then return {ok = false, problems = {done.error}} end
  return {ok = true}
end

--# a tally by weekday
function run(context)
  local orders = query_db{table = "orders"}
  if orders.error then return {error = orders.error} end
  local tally = {0, 0, 0, 0, 0, 0, 0}
  for _, order in ipairs(orders) do
    local day = date.weekday(order.created_at)
    tally[day] = tally[day] + 1
  end
  local busiest = 1
  for day = 2, 7 do
    if tally[day] > tally[busiest] then busiest = day end
  end
  return {tally = tally, busiest = busiest, most = tally[busiest]}
end

--# the first source that answers
function run(context)
  local sources = {
    function() return query_db{table = "locked"} end,
    function() return query_db{table = "empty"} end,
    function() return query_db{table = "users"} end,
  }
  for i, source in ipairs(sources) do
    local rows = source()
    if not rows.error and #rows > 0 then
      return {source = i, first = rows[1].name}
    end
  end
  return {source = 0}
end

--# a key path looked up safely
local function dig(value, ...)
  for _, key in ipairs({...}) do
    if type(value) ~= "table" then return nil end
    value = value[key]
  end
  return value
end

function run(context)
  local body = fetch_url("https://example.com/data.json")
  if body.error then return {error = body.error} end
  local data = json.decode(body)
  return {page = dig(data, "meta", "page"), none = dig(data, "meta", "a", "b") == nil, tag = dig(data, "items", 1, "tags", 1)}
end

--# a countdown of what is due
--# context: {"today": "2026-02-20"}
function run(context)
  local invoices = query_db{table = "invoices", order_by = "due_date"}
  if invoices.error then return {error = invoices.error} end
  local upcoming = {}
  for _, invoice in ipairs(invoices) do
    if not invoice.paid and date.compare(invoice.due_date, context.today) > 0 then
      local days = date.diff(context.today, invoice.due_date)
      local when
      if days <= 7 then
        when = "this week"
      elseif days <= 31 then
        when = "this month"
      else
        when = "in " .. days // 30 .. " months"
      end
      upcoming[#upcoming + 1] = invoice.customer .. ": " .. when
    end
  end
  return upcoming
end

--# a bar for each value
function run(context)
  local rows = query_db{table = "readings"}
  if rows.error then return {error = rows.error} end
  local most = stats.max(rows, "value") or 1
  local bars = {}
  for _, row in ipairs(rows) do
    local width = math.floor(row.value / most * 20)
    table.insert(bars, row.sensor .. " " .. string.rep("#", width))
  end
  return {bars = bars, longest = #bars[1]}
end

--# settings read from rows of keys and values
function run(context)
  local raw = {{key = "limit", value = "20"}, {key = "debug", value = "true"}, {key = "name", value = "x"}}
  local settings = {}
  for _, row in ipairs(raw) do
    local value = row.value
    if value == "true" or value == "false" then
      settings[row.key] = value == "true"
    else
      settings[row.key] = tonumber(value) or value
    end
  end
  return {limit = settings.limit + 1, debug = settings.debug, name = settings.name}
end
