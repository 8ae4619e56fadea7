--# goto continue in an ipairs loop
function run(context)
  local rows = query_db{table = "orders", where = "status = ?", params = {"open"}}
  if rows.error then return {error = rows.error} end
  local kept = {}
  for _, row in ipairs(rows) do
    if not row.total then goto continue end
    if row.total < 100 then goto continue end
    kept[#kept + 1] = row
    ::continue::
  end
  return {kept = kept, count = #kept}
end

--# nested goto with two labels
function run(context)
  local found = nil
  for i = 1, 10 do
    for j = 1, 10 do
      if i * j == 42 then
        found = {i, j}
        goto done
      end
      if j > i then goto next_i end
    end
    ::next_i::
  end
  ::done::
  context.found = found
  return context
end

--# numeric for downwards with a step
function run(context)
  local parts = {}
  for i = 10, 1, -3 do
    parts[#parts + 1] = tostring(i)
  end
  return {text = table.concat(parts, ", ")}
end

--# while with a condition that ends
function run(context)
  local n, steps = 27, 0
  while n ~= 1 and steps < 1000 do
    if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
    steps = steps + 1
  end
  return {steps = steps}
end

--# repeat until with a local in the condition
function run(context)
  local guess = 1.0
  repeat
    local better = (guess + 2 / guess) / 2
    local delta = math.abs(better - guess)
    guess = better
  until delta < 1e-9
  return {root = math.round(guess, 6)}
end

--# pages until an empty one comes
function run(context)
  local all, page = {}, 0
  while page < 20 do
    local rows = query_db{sql = "SELECT id, name FROM people ORDER BY id LIMIT 50 OFFSET " .. page * 50}
    if rows.error then
      context.error = rows.error
      return context
    end
    if #rows == 0 then break end
    for _, row in ipairs(rows) do table.insert(all, row) end
    page = page + 1
  end
  context.people = all
  return context
end

--# pairs over a map and sorted keys
function run(context)
  local counts = {}
  local rows = query_db{table = "visits", columns = {"city"}}
  if rows.error then error(rows.error) end
  for _, row in ipairs(rows) do
    local city = row.city or "unknown"
    counts[city] = (counts[city] or 0) + 1
  end
  local names = {}
  for name in pairs(counts) do names[#names + 1] = name end
  table.sort(names, function(a, b) return counts[a] > counts[b] end)
  local lines = {}
  for rank, name in ipairs(names) do
    lines[#lines + 1] = ("%d. %s: %d"):format(rank, name, counts[name])
  end
  return {report = table.concat(lines, "\n")}
end

--# a break out of a loop with a flag
function run(context)
  local rows = query_db("users", "active = 1")
  local admin
  if type(rows) == "table" and not rows.error then
    for i = 1, #rows do
      local user = rows[i]
      if user.role == "admin" then
        admin = user
        break
      end
    end
  end
  if admin then
    return {admin = admin.name}
  end
  return {admin = "nobody"}
end

--# next as an emptiness test
function run(context)
  local seen = {}
  for word in string.gmatch("one two two three", "%a+") do
    seen[word] = true
  end
  if next(seen) == nil then
    return {empty = true}
  end
  local n = 0
  for _ in pairs(seen) do n = n + 1 end
  return {words = n}
end

--# a loop over a list made by a library function
function run(context)
  local days = date.range("2025-01-01", "2025-01-31", 1, "weeks")
  local result = {}
  for i, day in ipairs(days) do
    result[i] = date.format(day, "%d.%m.%Y")
  end
  return result
end

--# accumulate with two running values
function run(context)
  local rows = query_db{sql = "SELECT day, amount FROM sales ORDER BY day"}
  if rows.error then
    return {ok = false, why = rows.error, again = rows.retryable}
  end
  local total, best = 0, nil
  for _, row in ipairs(rows) do
    local amount = tonumber(row.amount) or 0
    total = total + amount
    if best == nil or amount > best.amount then
      best = {day = row.day, amount = amount}
    end
  end
  return {total = total, best_day = best and best.day, mean = #rows > 0 and total / #rows or nil}
end

--# a matrix with nested loops and integer division
function run(context)
  local size = 4
  local matrix = {}
  for i = 1, size do
    matrix[i] = {}
    for j = 1, size do
      matrix[i][j] = (i * j) // 2
    end
  end
  local trace = 0
  for i = 1, size do trace = trace + matrix[i][i] end
  return {trace = trace, matrix = matrix}
end
