-- A tool called through pcall, and an error raised after it.
function run(context)
  local ok, receipt = pcall(send_email, "admin@company.com", "through pcall", "x")
  local fine = pcall(function()
    local rows = query_db{ table = "users" }
    error({ rows = #rows })
  end)
  return { ok = ok and receipt.error == nil, fine = fine }
end
