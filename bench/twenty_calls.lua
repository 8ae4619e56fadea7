-- A weekly report over regions. Context: week, mail_to, ops_mail, archive_url.
local function rows_of(sql, params)
  local rows = query_db{sql = sql, params = params}
  if rows.error then
    error("a query failed: " .. rows.error)
  end
  return rows
end

local function ask(prompt)
  local answer = call_llm{prompt = prompt, max_tokens = 300}
  if type(answer) ~= "string" then
    return "no summary: " .. answer.error
  end
  return answer
end

function run(context)
  local week = context.week
  local sales = query_db{table = "sales", where = "week = ?", params = {week}}
  if sales.error then return {sent = false, why = sales.error} end
  local returns = query_db{table = "returns", where = "week = ?", params = {week}}
  if returns.error then return {sent = false, why = returns.error} end
  local stock = rows_of("SELECT sku, count(*) AS n FROM stock JOIN depots ON depots.id = stock.depot GROUP BY sku", {})
  local staff = query_db{sql = "SELECT name, mail FROM staff WHERE on_duty = ?", params = {week}}
  local rates = fetch_url("https://rates.example.com/daily?week=" .. week)
  local weather = fetch_url("https://weather.example.org/week/" .. week)
  local both = parallel{
    function() return fetch_url("https://news.example.net/retail") end,
    function() return fetch_url{urls = {context.archive_url}, detail = true} end,
  }
  local totals = {}
  for _, row in ipairs(sales) do
    totals[row.region] = (totals[row.region] or 0) + row.amount
  end
  local regions = list.keys(totals)
  local page = transform_data(totals, "{{ input }}", "html")
  local table_text = transform_data(stock, "sku,n", "csv")
  local returns_text = transform_data{input = returns, format = "markdown"}
  local summary = ask("Summarise these sales: " .. json.encode(totals))
  local risk = call_llm("Name risks: " .. tostring(returns_text))
  local mood = call_llm{prompt = "One line about the weather: " .. tostring(weather), format = "text"}
  local body = page .. "\n" .. summary .. "\n" .. tostring(risk) .. "\n" .. tostring(mood)
  local first = retry(3, function()
    return send_email{to = context.mail_to, subject = "Week " .. week, body = body, attachments = {["stock.csv"] = table_text}}
  end)
  if first.error then
    send_email{to = context.ops_mail, subject = "The report failed", body = first.error}
    return {sent = false}
  end
  for _, region in ipairs{"north", "south", "east"} do
    local note = transform_data({region = region, total = totals[region]}, "{{ region }}: {{ total }}", "text")
    local sent = send_email{to = region .. "@example.com", subject = "Your week", body = note}
    if sent.error then print(sent.error) end
  end
  for _, person in ipairs(staff) do
    local sent = send_email{to = person.mail, subject = "On duty", body = "See the report, " .. person.name}
    if sent.error then print(sent.error) end
  end
  local logged = query_db{table = "report_log", where = {week = week}}
  if logged.error then print(logged.error) end
  return {sent = true, regions = regions, news = both[1], rates = rates}
end
