-- Mails a digest of the sign-ups of the last weeks, week by week, also the weeks without any.
-- Context: today ("2026-03-31"), mail_to (address); weeks (optional, 4).
-- Tools: query_db (table users), transform_data, send_email.
-- Leaves: weeks_counted (list of week, signups, change), digest (HTML).
function run(context)
  local this_week = date.start_of(context.today, "week")
  local first = date.add(this_week, -(context.weeks or 4), "weeks")
  local users = query_db {
    table = "users", where = "signed_up_on >= ? AND signed_up_on < ?", params = { first, this_week },
    columns = { "signed_up_on" },
  }
  if users.error then
    error("the sign-ups cannot be read: " .. users.error)
  end

  local by_week = list.count_by(users, function(user)
    return date.start_of(string.sub(user.signed_up_on, 1, 10), "week")
  end)
  local rows, before = list.empty(), nil
  for _, monday in ipairs(date.range(first, date.add(this_week, -1), 1, "weeks")) do
    local signups = by_week[monday] or 0
    local change = before and string.format("%+d", signups - before) or ""
    local week = string.format("%d-W%02d", date.week_year(monday), date.week(monday))
    table.insert(rows, { week = week, signups = signups, change = change })
    before = signups
  end

  local digest = transform_data { input = rows, format = "html" }
  if type(digest) ~= "string" then
    error("the digest cannot be written: " .. digest.error)
  end
  local sent = send_email {
    to = context.mail_to,
    subject = #users .. " sign-ups in " .. #rows .. " weeks",
    body = digest,
    html = true,
  }
  if sent.error then
    error("the digest cannot be sent: " .. sent.error)
  end
  context.weeks_counted, context.digest = rows, digest
  return context
end
