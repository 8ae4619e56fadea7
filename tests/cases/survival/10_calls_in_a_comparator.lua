-- Each comparison asks the database.
function run(context)
  local ids = { 3, 1, 2 }
  table.sort(ids, function(a, b)
    local rows = query_db{ sql = "SELECT age FROM users WHERE id = ?", params = { a } }
    local other = query_db{ sql = "SELECT age FROM users WHERE id = ?", params = { b } }
    if rows.error or other.error then error("no rows") end
    return rows[1].age < other[1].age
  end)
  local receipt = send_email("admin@company.com", "order", table.concat(ids, " "))
  return { ids = ids, ok = receipt.error == nil }
end
