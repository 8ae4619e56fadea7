-- The second mail depends on what came of the first call and the first mail.
function run(context)
  local rows = query_db("SELECT max(age) AS oldest FROM users")
  if rows.error then return { failed = rows.code } end
  local first = send_email("admin@company.com", "oldest " .. rows[1].oldest, "x")
  if first.error then
    send_email("admin@company.com", "first failed", first.error)
    return { second = "failure" }
  end
  local second = send_email("admin@company.com", "after the first", "x")
  return { second = second.error == nil and "sent" or second.code }
end
