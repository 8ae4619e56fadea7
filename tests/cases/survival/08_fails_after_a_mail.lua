-- The plan breaks after its mail went out.
function run(context)
  local receipt = send_email("admin@company.com", "before the fall", "x")
  local rows = query_db{ table = "users" }
  if #rows > 0 and not receipt.error then
    error("no good: " .. #rows)
  end
end
