function run(context)
  local users = query_db({ table = "users" })
  local chosen = {}
  for _, user in ipairs(users) do
    if user.age > 30 and #chosen < 10 then
      table.insert(chosen, user)
    end
  end
  local lines = {}
  for _, user in ipairs(chosen) do
    local page = fetch_url(user.url)
    table.insert(lines, user.name .. " <" .. user.email .. ">: " .. #page .. " bytes")
  end
  local body = table.concat(lines, "\n")
  context.receipt = send_email("admin@example.com", "User summary", body)
  context.count = #chosen
  context.body = body
  return context
end
