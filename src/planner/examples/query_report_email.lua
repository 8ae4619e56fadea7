function run(context)
  local users = query_db{table = "users", where = "active = 1", limit = 100}
  if users.error then
    error("the users could not be read: " .. users.error)
  end
  if #users == 0 then
    context.status = "no active users, nothing sent"
    return context
  end

  local body = transform_data{input = users, template = "<ul>{% for u in rows %}<li>{{ u.name }}</li>{% endfor %}</ul>", format = "html"}
  if type(body) ~= "string" then
    error("the list could not be written: " .. body.error)
  end

  local receipt = send_email{to = context.recipient, subject = "Active users", body = body}
  if receipt.error then
    error("the mail was not sent: " .. receipt.error)
  end
  context.status = "sent"
  context.count = #users
  return context
end
