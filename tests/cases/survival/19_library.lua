-- The plan library between calls.
function run(context)
  local users = query_db{ table = "users" }
  local by = list.group_by(users, function(user) return user.age > 30 and "old" or "young" end)
  local csv_text = csv.encode(list.map(users, function(user) return { name = user.name, age = user.age } end))
  local receipt = send_email{ to = "admin@company.com", subject = "csv", body = csv_text, html = false }
  return { old = #by.old, young = #by.young, size = #csv_text, ok = receipt.error == nil }
end
