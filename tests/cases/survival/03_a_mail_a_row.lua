-- A mail for each row.
function run(context)
  local users = query_db{ table = "users", where = "age > 40" }
  local sent = 0
  for i, user in ipairs(users) do
    local receipt = send_email("admin@company.com", "row " .. i, user.name)
    if not receipt.error then sent = sent + 1 end
  end
  return { sent = sent, of = #users }
end
