--# query, page, mail with everything looked at
function run(context)
  local users = query_db({table = "users", where = "age > 30"})
  if users.error then return {error = users.error} end
  local urls = {}
  for i, user in ipairs(users) do
    table.insert(urls, user.profile_image_url)
  end
  local images = fetch_url(urls, true)
  if images.error then images = {} end
  local body = transform_data(users, "summary_email", "html")
  if type(body) ~= "string" then return {error = body.error} end
  local receipt = send_email("admin@company.com", "User Summary", body, images)
  context["receipt"] = receipt
  return context
end

--# by name with copies
function run(context)
  local receipt = send_email{
    to = {"a@example.com", "b@example.com"},
    cc = "c@example.com",
    subject = "Minutes",
    body = "<p>See below</p>",
    html = true,
    reply_to = "desk@example.com",
  }
  if receipt.error then return {sent = false, why = receipt.error} end
  return {sent = receipt.delivered, size = receipt.size_bytes, to = receipt.recipients[1]}
end

--# attachments from a csv
function run(context)
  local rows = query_db{sql = "SELECT * FROM orders"}
  if rows.error then return {error = rows.error} end
  local data = csv.encode(rows)
  local receipt = send_email("boss@example.com", "Orders", "Attached.", {["orders.csv"] = data})
  if receipt.error then return {error = receipt.error} end
  return {id = receipt.message_id}
end

--# attachments as a list
function run(context)
  local receipt = send_email{
    to = "boss@example.com",
    subject = "Chart",
    body = "Here it is.",
    attachments = {{name = "chart.txt", content = "***", content_type = "text/plain"}},
  }
  return {response = receipt.error or receipt.response}
end

--# one mail per group
function run(context)
  local rows = query_db{table = "overdue"}
  if rows.error then return {error = rows.error} end
  local groups = list.group_by(rows, "owner_email")
  local sent, failed = 0, 0
  for address, items in pairs(groups) do
    local lines = list.map(items, function(item) return "- " .. item.title end)
    local receipt = send_email(address, #items .. " overdue", table.concat(lines, "\n"))
    if receipt.error then failed = failed + 1 else sent = sent + 1 end
  end
  return {sent = sent, failed = failed}
end

--# mail only where something is to be said
function run(context)
  local rows = query_db{sql = "SELECT name FROM services WHERE up = ?", params = {false}}
  if rows.error then return {error = rows.error} end
  if #rows == 0 then return {quiet = true} end
  local names = list.pluck(rows, "name")
  local receipt = send_email("oncall@example.com", "Down: " .. #names, text.join(names, ", "))
  return {mailed = receipt.error == nil}
end

--# subject from a ternary
function run(context)
  local weather = get_weather{city = "Oslo", days = 3}
  if weather.error then return {error = weather.error} end
  local subject = weather.temperature < 0 and "Frost" or "No frost"
  local receipt = send_email("garden@example.com", subject, "Low is " .. weather.forecast[1].low)
  return {ok = not receipt.error}
end

--# recipients joined
function run(context)
  local rows = query_db{table = "staff", columns = "email"}
  if rows.error then return {error = rows.error} end
  local to = {}
  for _, row in ipairs(rows) do
    if row.email and row.email ~= "" then to[#to + 1] = row.email end
  end
  local receipt = send_email(to, "News", "None.")
  return receipt.error and {error = receipt.error} or {n = #to}
end

--# html with escaping
function run(context)
  local rows = query_db{table = "comments", limit = 20, order_by = "created DESC"}
  if rows.error then return {error = rows.error} end
  local html = {"<ul>"}
  for _, row in ipairs(rows) do
    html[#html + 1] = "<li>" .. text.escape_html(row.body or "") .. "</li>"
  end
  html[#html + 1] = "</ul>"
  local receipt = send_email{to = "mod@example.com", subject = "Comments", body = table.concat(html), html = true}
  return {ok = receipt.error == nil}
end

--# result of a helper goes into the mail
local function summary(rows)
  local total = list.sum_by(rows, "amount")
  return string.format("%d rows, %.2f in all", #rows, total)
end

function run(context)
  local rows = query_db{table = "payments"}
  if rows.error then return {error = rows.error} end
  local receipt = send_email("cfo@example.com", "Payments", summary(rows))
  context.receipt = receipt.message_id or receipt.error
  return context
end
