--# JSON read and walked
function run(context)
  local body = fetch_url("https://example.com/data.json")
  if body.error then return {error = body.error} end
  local data = json.decode(body)
  local total = 0
  for _, item in ipairs(data.items) do
    total = total + item.price
  end
  return {total = total, first = data.items[1].name, tags = data.items[1].tags[2]}
end

--# JSON that may be broken
function run(context)
  local body = fetch_url("https://example.com/data.json")
  if body.error then return {error = body.error} end
  local ok, data = pcall(json.decode, body)
  if not ok then return {error = "not JSON"} end
  local page = data.meta and data.meta.page or 1
  return {page = page, more = data.next ~= nil}
end

--# JSON written and read again
function run(context)
  local before = {name = "x", list = {1, 2, 3}, inner = {ok = true}}
  local after = json.decode(json.encode(before, {sort = true}))
  return {same = after.name == before.name and #after.list == 3, ok = after.inner.ok}
end

--# empty lists and objects
function run(context)
  local answer = {items = json.array(), labels = json.object()}
  if context.fill then
    table.insert(answer.items, 1)
    answer.labels.a = "b"
  end
  return {encoded = json.encode(answer), empty = #answer.items == 0}
end

--# CSV read with numbers
function run(context)
  local body = fetch_url("https://example.com/prices.csv")
  if body.error then return {error = body.error} end
  local rows = csv.parse(body, {numbers = true})
  local cheapest = list.sort_by(rows, "price")[1]
  return {n = #rows, cheapest = cheapest.name, mean = stats.mean(rows, "price")}
end

--# CSV read as text and turned into numbers
function run(context)
  local body = fetch_url("https://example.com/prices.csv")
  if body.error then return {error = body.error} end
  local latest = {}
  for _, row in ipairs(csv.parse(body)) do
    local price = tonumber(row.price)
    if price and (not latest[row.name] or row.day > latest[row.name].day) then
      latest[row.name] = {price = price, day = row.day}
    end
  end
  return {saw = latest.saw.price, nail = latest["nail"].price}
end

--# CSV written and attached
function run(context)
  local rows = query_db{table = "orders", columns = {"id", "product", "total"}}
  if rows.error then return {error = rows.error} end
  local sheet = csv.encode(rows, {columns = {"id", "product", "total"}})
  local receipt = send_email{
    to = "ops@example.com",
    subject = "Orders",
    body = "The orders are attached.",
    attachments = {["orders.csv"] = sheet},
  }
  if receipt.error then return {error = receipt.error} end
  return {bytes = #sheet, delivered = receipt.delivered}
end

--# CSV without a header
function run(context)
  local rows = csv.parse("1,2\n3,4", {header = false, numbers = true})
  local sum = 0
  for _, row in ipairs(rows) do
    for _, cell in ipairs(row) do sum = sum + cell end
  end
  return {sum = sum, corner = rows[2][2]} --? plan_nil_index
end

--# overdue days
--# context: {"today": "2026-04-15"}
function run(context)
  local invoices = query_db{table = "invoices"}
  if invoices.error then return {error = invoices.error} end
  local late = {}
  for _, invoice in ipairs(invoices) do
    local days = date.diff(invoice.due_date, context.today)
    if days > 0 and not invoice.paid then
      late[#late + 1] = {id = invoice.id, days = days}
    end
  end
  table.sort(late, function(a, b) return a.days > b.days end)
  return {late = late, worst = late[1] and late[1].days or 0}
end

--# months of orders
function run(context)
  local orders = query_db{table = "orders"}
  if orders.error then return {error = orders.error} end
  local months = {}
  for _, order in ipairs(orders) do
    local month = date.format(order.created_at, "%Y-%m")
    months[month] = (months[month] or 0) + order.total
  end
  local out = {}
  for _, month in ipairs(list.keys(months)) do
    out[#out + 1] = {month = month, total = months[month]}
  end
  return out
end

--# a calendar of working days
function run(context)
  local days = {}
  for _, day in ipairs(date.range("2026-03-02", "2026-03-15")) do
    if date.weekday(day) <= 5 then days[#days + 1] = day end
  end
  return {n = #days, last = days[#days], name = date.weekday_name(days[1])}
end

--# the end of a quarter
function run(context)
  local today = context.today or "2026-05-20"
  local ends = date.end_of(today, "quarters")
  local left = date.diff(today, ends)
  local parts = date.parts(today)
  return {quarter = parts.quarter, left = left, next = date.add(date.start_of(today, "quarters"), 1, "quarters")}
end

--# years of service
function run(context)
  local people = query_db{table = "employees"}
  if people.error then return {error = people.error} end
  local today = context.today or "2026-06-01"
  local served = list.map(people, function(person)
    return {name = person.name, years = date.diff(person.hired, today, "years")}
  end)
  local veterans = list.filter(served, function(one) return one.years >= 3 end)
  return {veterans = list.pluck(veterans, "name"), mean = stats.mean(served, "years")}
end

--# sessions from events
function run(context)
  local events = query_db{table = "events", order_by = "at"}
  if events.error then return {error = events.error} end
  local open, sessions = {}, {}
  for _, event in ipairs(events) do
    if event.kind == "login" then
      open[event.user_id] = event.at
    elseif event.kind == "logout" and open[event.user_id] then
      local minutes = date.diff(open[event.user_id], event.at, "minutes")
      sessions[#sessions + 1] = {user = event.user_id, minutes = minutes}
      open[event.user_id] = nil
    end
  end
  return {sessions = sessions, still_open = #list.keys(open)}
end

--# dates that may be none
function run(context)
  local dates = {"2026-01-01", "tomorrow", "2026-02-30", "2026-02-28"}
  local good, bad = {}, {}
  for _, value in ipairs(dates) do
    if date.valid(value) then good[#good + 1] = value else bad[#bad + 1] = value end
  end
  return {good = good, bad = bad, first = date.parse(good[1])}
end

--# outliers by standard deviation
function run(context)
  local rows = query_db{table = "readings"}
  if rows.error then return {error = rows.error} end
  local mean, deviation = stats.mean(rows, "value"), stats.stdev(rows, "value")
  if not mean or not deviation then return {outliers = {}} end
  local outliers = list.filter(rows, function(row)
    return math.abs(row.value - mean) > 1.5 * deviation
  end)
  return {outliers = outliers, mean = math.round(mean, 2)}
end

--# percentiles and a histogram
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local totals = list.pluck(rows, "total")
  local bins = stats.histogram(totals, 2)
  return {p90 = stats.percentile(totals, 90), median = stats.median(totals), low = bins[1].count, high = bins[2].count} --? plan_nil_index
end

--# correlation of two columns
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local r = stats.correlation(list.pluck(rows, "price"), list.pluck(rows, "total"))
  local verdict
  if r == nil then
    verdict = "unknown"
  elseif r > 0.5 then
    verdict = "related"
  else
    verdict = "unrelated"
  end
  return {verdict = verdict}
end

--# partition and counts
function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  local adults, minors = list.partition(users, function(user) return user.age >= 18 end)
  return {adults = #adults, minors = list.map(minors, "name"), by_city = list.count_by(users, "city", "none")}
end

--# reduce with a start
function run(context)
  local rows = query_db{table = "products"}
  if rows.error then return {error = rows.error} end
  local worth = list.reduce(rows, function(sum, row) return sum + row.price * row.stock end, 0)
  local longest = list.reduce(rows, function(best, row)
    if #row.name > #best then return row.name end
    return best
  end, "")
  return {worth = worth, longest = longest}
end

--# chunks of a list
function run(context)
  local ids = list.range(1, 10)
  local sums = {}
  for i, chunk in ipairs(list.chunk(ids, 4)) do
    sums[i] = stats.sum(chunk)
  end
  return {sums = sums, parts = #sums}
end

--# zip of names and numbers
function run(context)
  local names, scores = {"a", "b", "c"}, {3, 1, 2}
  local ranked = list.sort_by(list.zip(names, scores), function(pair) return pair[2] end, "desc")
  return {best = ranked[1][1], order = list.map(ranked, function(pair) return pair[1] end)}
end

--# flatten and unique
function run(context)
  local body = fetch_url("https://example.com/data.json")
  if body.error then return {error = body.error} end
  local items = json.decode(body).items
  local tags = list.unique(list.flatten(list.map(items, function(item) return item.tags end)))
  return {tags = list.sort(tags), any = list.contains(tags, "a")}
end

--# nulls in a list
function run(context)
  local values = json.decode("[1, null, 3]")
  local sum, missing = 0, 0
  for _, value in ipairs(values) do
    if json.is_null(value) then missing = missing + 1 else sum = sum + value end
  end
  return {sum = sum, missing = missing}
end

--# any and all
function run(context)
  local tickets = query_db{table = "tickets"}
  if tickets.error then return {error = tickets.error} end
  local urgent = list.any(tickets, {priority = "high", status = "open"})
  local all_assigned = list.all(tickets, function(ticket) return ticket.assignee ~= nil end)
  local open = list.count(tickets, {status = "open"})
  return {urgent = urgent, all_assigned = all_assigned, open = open}
end
