--# a weekly report with a table
-- Mails the sales of the week by region.
local function money(x)
  return string.format("%.2f", x or 0)
end

function run(context)
  local rows = query_db{
    sql = [[
      SELECT region, sum(amount) AS total, count(*) AS n
      FROM sales WHERE day >= ? GROUP BY region ORDER BY total DESC
    ]],
    params = {context.since or "2025-06-09"},
  }
  if rows.error then
    return {status = "failed", reason = rows.error}
  end
  local lines = {"| region | orders | total |", "|---|---|---|"}
  local grand = 0
  for _, row in ipairs(rows) do
    lines[#lines + 1] = "| " .. (row.region or "?") .. " | " .. (row.n or 0) .. " | " .. money(row.total) .. " |"
    grand = grand + (row.total or 0)
  end
  lines[#lines + 1] = "| all | | " .. money(grand) .. " |"
  local receipt = send_email{
    to = context.to or "sales@example.com",
    subject = "Sales: " .. money(grand),
    body = table.concat(lines, "\n"),
  }
  if receipt.error then
    return {status = "not sent", reason = receipt.error, again = receipt.retryable}
  end
  return {status = "sent", regions = #rows, total = grand}
end

--# two sources joined by hand
function run(context)
  local people = query_db{table = "people"}
  if people.error then return {error = people.error} end
  local absences = query_db{table = "absences"}
  if absences.error then return {error = absences.error} end

  local days = {}
  for _, absence in ipairs(absences) do
    days[absence.person_id] = (days[absence.person_id] or 0) + (absence.days or 1)
  end

  local result = {}
  for _, person in ipairs(people) do
    table.insert(result, {name = person.name, absent = days[person.id] or 0})
  end
  table.sort(result, function(a, b)
    if a.absent ~= b.absent then return a.absent > b.absent end
    return a.name < b.name
  end)
  return {people = result}
end

--# a threshold by percent
function run(context)
  local rows = query_db{table = "disks", columns = {"host", "used", "size"}}
  if rows.error then return {error = rows.error} end
  local full = {}
  for _, row in ipairs(rows) do
    local share = row.size and row.size > 0 and row.used / row.size or 0
    if share > 0.9 then
      full[#full + 1] = ("%s %d%%"):format(row.host, math.floor(share * 100))
    end
  end
  if #full == 0 then return {ok = true} end
  local ticket = create_ticket{title = #full .. " disks are full", priority = "high", body = table.concat(full, "\n")}
  if ticket.error then return {ok = false, error = ticket.error} end
  return {ok = false, ticket = ticket.id}
end

--# a page checked for words
function run(context)
  local body = fetch_url("https://example.com/status")
  if type(body) ~= "string" then
    return {up = false, why = body.error}
  end
  local lower = body:lower()
  local bad = {}
  for _, word in ipairs({"error", "outage", "degraded"}) do
    if lower:find(word, 1, true) then bad[#bad + 1] = word end
  end
  return {up = #bad == 0, words = bad, title = body:match("<title>(.-)</title>")}
end

--# links of a page
function run(context)
  local page = fetch_url("https://example.com")
  if type(page) ~= "string" then return {error = page.error} end
  local links, seen = {}, {}
  for link in page:gmatch('href="(https?://[^"]+)"') do
    if not seen[link] then
      seen[link] = true
      links[#links + 1] = link
    end
  end
  local answers = fetch_url(links, true)
  if answers.error then return {error = answers.error} end
  local broken = list.filter(links, function(link)
    return type(answers[link]) ~= "string"
  end)
  return {links = #links, broken = broken}
end

--# an import checked line by line
function run(context)
  local source = context.csv or "id,amount\n1,10\n2,x"
  local rows = csv.parse(source)
  local good, bad = {}, {}
  for i, row in ipairs(rows) do
    local amount = tonumber(row.amount)
    if not row.id or row.id == "" then
      bad[#bad + 1] = {line = i + 1, why = "no id"}
    elseif not amount then
      bad[#bad + 1] = {line = i + 1, why = "amount " .. tostring(row.amount)}
    elseif amount < 0 then
      bad[#bad + 1] = {line = i + 1, why = "negative"}
    else
      good[#good + 1] = {id = row.id, amount = amount}
    end
  end
  return {good = good, bad = bad}
end

--# words counted
function run(context)
  local counts = {}
  for word in (context.text or "the cat and the dog"):lower():gmatch("%a+") do
    counts[word] = (counts[word] or 0) + 1
  end
  local words = {}
  for word, n in pairs(counts) do words[#words + 1] = {word = word, n = n} end
  return {top = list.take(list.sort_by(words, "n", "desc"), 3)}
end

--# a summary by a model with a fallback
function run(context)
  local rows = query_db{table = "feedback", order_by = "created DESC", limit = 50}
  if rows.error then return {error = rows.error} end
  local notes = {}
  for i, row in ipairs(rows) do
    notes[i] = "- " .. text.truncate(row.comment or "", 200)
  end
  local answer = call_llm("Summarise in three sentences:\n" .. table.concat(notes, "\n"))
  local summary
  if type(answer) == "string" and #answer > 0 then
    summary = answer
  else
    summary = #rows .. " comments came in; no summary could be made."
  end
  local receipt = send_email("product@example.com", "Feedback", summary)
  return {sent = not receipt.error, summary = summary}
end

--# classify by rules first, by a model second
local RULES = {
  {word = "invoice", label = "billing"},
  {word = "password", label = "account"},
}

local function classify(subject)
  local lower = (subject or ""):lower()
  for _, rule in ipairs(RULES) do
    if lower:find(rule.word, 1, true) then return rule.label end
  end
  return nil
end

function run(context)
  local tickets = query_db{table = "tickets", where = {state = "new"}}
  if tickets.error then return {error = tickets.error} end
  local labels = {}
  for _, ticket in ipairs(tickets) do
    local label = classify(ticket.subject)
    if label == nil then
      local answer = call_llm{prompt = "billing, account or other? " .. (ticket.subject or ""), max_tokens = 5}
      label = type(answer) == "string" and text.trim(answer):lower() or "other"
    end
    labels[tostring(ticket.id)] = label
  end
  return {labels = labels}
end

--# a state machine
function run(context)
  local input = context.input or "ab1c22"
  local state, token, tokens = "start", "", {}
  local function flush()
    if token ~= "" then
      tokens[#tokens + 1] = {kind = state, text = token}
      token = ""
    end
  end
  for i = 1, #input do
    local c = input:sub(i, i)
    local kind = c:match("%d") and "number" or "word"
    if kind ~= state then
      flush()
      state = kind
    end
    token = token .. c
  end
  flush()
  return {tokens = tokens}
end

--# buckets by age
function run(context)
  local today = context.today or "2025-06-30"
  local rows = query_db{table = "invoices", where = "paid = 0", columns = {"number", "due", "amount"}}
  if rows.error then return {error = rows.error} end
  local buckets = {current = 0, days_30 = 0, days_60 = 0, older = 0}
  for _, row in ipairs(rows) do
    local age = row.due and date.diff(row.due, today) or 0
    local name
    if age <= 0 then name = "current"
    elseif age <= 30 then name = "days_30"
    elseif age <= 60 then name = "days_60"
    else name = "older" end
    buckets[name] = buckets[name] + (row.amount or 0)
  end
  return buckets
end

--# an html report with a chart as attachment
function run(context)
  local rows = query_db{sql = "SELECT month, total FROM revenue ORDER BY month"}
  if rows.error then return {error = rows.error} end
  local html = transform_data(rows, "{% for r in input %}<p>{{ r.month }}: {{ r.total }}</p>{% endfor %}", "html")
  if type(html) ~= "string" then return {error = html.error} end
  local chart = fetch_url("https://example.com/chart.png")
  local attachments = {}
  if type(chart) == "string" then
    attachments["chart.png"] = chart
  end
  local receipt = send_email{
    to = "board@example.com", subject = "Revenue", body = html, html = true, attachments = attachments,
  }
  return receipt.error and {error = receipt.error} or {id = receipt.message_id}
end

--# a diff against the last run
function run(context)
  local rows = query_db{table = "prices"}
  if rows.error then return {error = rows.error} end
  local before = context.prices or {}
  local now, changes = {}, {}
  for _, row in ipairs(rows) do
    now[row.name] = row.price
    local old = before[row.name]
    if old and old ~= row.price then
      changes[#changes + 1] = {name = row.name, from = old, to = row.price}
    end
  end
  context.prices = now
  context.changes = changes
  return context
end

--# moving average
function run(context)
  local values = {3, 5, 8, 13, 21}
  local window, result = 3, {}
  for i = window, #values do
    local sum = 0
    for j = i - window + 1, i do sum = sum + values[j] end
    result[#result + 1] = math.round(sum / window, 2)
  end
  return {average = result}
end

--# outliers
function run(context)
  local rows = query_db{table = "readings", columns = {"sensor", "value"}}
  if rows.error then return {error = rows.error} end
  local mean, sd = stats.mean(rows, "value"), stats.stdev(rows, "value")
  if not mean or not sd or sd == 0 then
    return {outliers = list.empty()}
  end
  local outliers = list.filter(rows, function(row)
    return math.abs(row.value - mean) > 3 * sd
  end)
  return {mean = mean, outliers = outliers}
end
