--# an empty plan
function run() end

--# the context given back as it came
function run(context)
  return context
end

--# a guard on the whole context
function run(context)
  context = context or {}
  local to = context.to
  if to == nil or to == "" then
    return {sent = false, why = "no recipient"}
  end
  local receipt = send_email(to, "Hello", "Just that.")
  return {sent = not receipt.error}
end

--# one call per day, side by side
function run(context)
  local days = date.range("2025-06-01", "2025-06-07")
  local results = parallel(list.map(days, function(day)
    return function()
      return query_db{sql = "SELECT count(*) AS n FROM visits WHERE day = ?", params = {day}}
    end
  end))
  local counts = {}
  for i, rows in ipairs(results) do
    counts[days[i]] = not rows.error and rows[1].n or null
  end
  return {counts = counts}
end

--# parameters by name in the statement
function run(context)
  local rows = query_db{
    sql = "SELECT name FROM users WHERE age BETWEEN :low AND :high",
    params = {low = 30, high = 40},
    database = "main",
  }
  return rows.error and {error = rows.error} or {names = list.pluck(rows, "name")}
end

--# where as a table with a list
function run(context)
  local rows = query_db{table = "users", where = {role = {"admin", "owner"}, active = true}, columns = {"id", "name"}}
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# headers and head
function run(context)
  local answer = fetch_url{urls = "https://example.com/file.zip", method = "HEAD", detail = true}
  if answer.error then return {error = answer.error} end
  return {size = tonumber(answer.headers["content-length"]), url = answer.url}
end

--# csv of chosen columns
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local out = transform_data(rows, "name,age", "csv")
  if type(out) ~= "string" then return {error = out.error} end
  return {csv = out, lines = select(2, out:gsub("\n", "\n"))}
end
