--# lists
function run(context)
  local rows = query_db{table = "sales"}
  if rows.error then return {error = rows.error} end
  local paid = list.filter(rows, {paid = true})
  local big = list.filter(paid, function(row) return row.amount > 100 end)
  local by_region = list.group_by(big, "region")
  local sums = {}
  for region, items in pairs(by_region) do
    sums[region] = list.sum_by(items, "amount")
  end
  return {sums = sums, top = list.take(list.sort_by(big, "amount", "desc"), 5)}
end

--# list map by a member
function run(context)
  local rows = query_db("users")
  if rows.error then return {error = rows.error} end
  local names = list.map(rows, "name")
  return {names = list.unique(names), has = list.contains(names, "Ada"), n = list.count(names)}
end

--# list find with a test after it
function run(context)
  local rows = query_db{table = "plans"}
  if rows.error then return {error = rows.error} end
  local free = list.find(rows, {price = 0})
  if free then
    return {free = free.name}
  end
  return {free = null}
end

--# reduce and range
function run(context)
  local sum = list.reduce(list.range(1, 10), function(total, n) return total + n end, 0)
  local chunks = list.chunk(list.range(7), 3)
  return {sum = sum, chunks = #chunks, last = chunks[#chunks]}
end

--# statistics
function run(context)
  local rows = query_db{table = "latency", columns = {"ms"}}
  if rows.error then return {error = rows.error} end
  local summary = stats.summary(rows, "ms")
  return {
    n = summary.count,
    median = summary.median or 0,
    p95 = stats.percentile(rows, 95, "ms") or 0,
    bins = stats.histogram(rows, 5, "ms"),
  }
end

--# statistics with nothing to count
function run(context)
  local mean = stats.mean({})
  if mean == nil then
    return {mean = "n/a"}
  end
  return {mean = math.round(mean, 2)}
end

--# dates
function run(context)
  local today = context.today or "2025-06-15"
  local start = date.start_of(today, "month")
  local parts = date.parts(today)
  return {
    start = start,
    due = date.add(today, {weeks = 2}),
    quarter = parts.quarter,
    late = date.compare(today, "2025-01-01") > 0,
    text = date.format(today, "%d.%m.%Y"),
  }
end

--# dates that may be none
function run(context)
  local input = context.date
  if not date.valid(input) then
    return {error = "no date"}
  end
  return {iso = date.parse(input), week = date.week(input)}
end

--# text pieces
function run(context)
  local line = "  name ; age ; city "
  local cells = list.map(text.split(line, ";"), text.trim)
  return {
    cells = cells,
    title = text.title("the old man"),
    slug = text.slug("Crème Brûlée!"),
    short = text.truncate("a very long text", 8),
    padded = text.pad_left(7, 3, "0"),
    money = text.number(1234567.891, 2),
  }
end

--# csv both ways
function run(context)
  local rows = csv.parse("name,age\nAda,36\nBob,41", {numbers = true})
  local total = 0
  for _, row in ipairs(rows) do total = total + row.age end
  local out = csv.encode(rows, {columns = {"name"}, header = false})
  return {total = total, names = text.lines(out)}
end

--# json both ways
function run(context)
  local data = json.decode('{"a": [1, 2, null], "b": {"c": true}}')
  data.b.d = json.array()
  data.e = json.object()
  local is_null = json.is_null(data.a[3])
  return {text = json.encode(data, {indent = 2, sort = true}), is_null = is_null}
end

--# null in lists
function run(context)
  local values = {1, null, 3}
  local known = list.filter(values, function(v) return v ~= null end)
  return {n = #known, gap = values[2] == json.null}
end

--# rounding
function run(context)
  return {
    a = math.round(2.5),
    b = math.round(3.14159, 2),
    c = math.floor(-1.5),
    d = math.ceil(1.2),
    e = math.max(1, 2, 3),
    f = math.tointeger(3.0),
    g = 7 // 2,
    h = 7 % 3,
    i = 2 ^ 10,
    j = math.fmod(7, 3),
    k = math.huge > 1,
    l = math.type(1),
  }
end

--# partition and zip
function run(context)
  local even, odd = list.partition({1, 2, 3, 4}, function(n) return n % 2 == 0 end)
  local pairs_of = list.zip(even, odd)
  local sums = list.map(pairs_of, function(pair) return pair[1] + pair[2] end)
  return {sums = sums, flat = list.flatten(pairs_of), back = list.reverse(sums)}
end

--# index by a key and look up
function run(context)
  local users = query_db{table = "users", columns = {"id", "name"}}
  local orders = query_db{table = "orders", columns = {"user_id", "total"}}
  if users.error or orders.error then
    return {error = users.error or orders.error}
  end
  local by_id = list.index_by(users, "id")
  for _, order in ipairs(orders) do
    local user = by_id[order.user_id]
    order.name = user and user.name or "unknown"
  end
  return {orders = orders}
end

--# wrap a mail
function run(context)
  local body = text.wrap("A long text that has many words and goes on for a while.", 20)
  local quoted = text.indent(body, "> ")
  local receipt = send_email("a@example.com", "Quote", quoted)
  return {ok = not receipt.error, lines = #text.lines(quoted)}
end

--# keys and values sorted
function run(context)
  local ages = {ada = 36, bob = 41}
  return {names = list.keys(ages), ages = list.values(ages), oldest = stats.max(list.values(ages))}
end

--# days of each month
function run(context)
  local days = {}
  for month = 1, 12 do
    days[month] = date.days_in_month(2024, month)
  end
  return {days = days, leap = date.is_leap_year(2024), unix = date.unix("2025-01-01T00:00:00Z")}
end
