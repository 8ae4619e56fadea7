-- The main job: rows, pictures, a page, a mail.
function run(context)
  local users = query_db{ table = "users", where = "age > 30" }
  local body = transform_data(users, "summary_email", "html")
  if type(body) ~= "string" then return { failed = body.code } end
  local receipt = send_email("admin@company.com", "User Summary", body)
  context.size = #body
  context.ok = receipt.error == nil
  return context
end
