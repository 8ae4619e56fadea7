-- Rows are read, then one mail says how many.
function run(context)
  local users = query_db{ table = "users", where = "age > 30" }
  print("found", #users)
  local receipt = send_email("admin@company.com", "count", "there are " .. #users)
  print("sent")
  return { count = #users, ok = receipt.error == nil }
end
