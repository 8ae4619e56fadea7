function run(context)
  local arguments = { "a@example.com", "Hello", "Body" }
  local one = send_email(table.unpack(arguments))
  local two = send_email("b@example.com", "Hello", context.body, nil, true)
  local three = send_email({ "c@example.com", "d@example.com" }, "Hello", "Body", {})
  local named = { to = "e@example.com", subject = "s", body = "b" }
  local four = send_email(named)
  local _, five = pcall(send_email, "f@example.com", "Hello", "Body")
  return { one, two, three, four, five }
end
