-- Output between every two calls.
function run(context)
  for i = 1, 4 do
    print("before", i)
    local rows = query_db{ sql = "SELECT ? AS n", params = { i } }
    print("after", rows[1].n)
  end
  local receipt = send_email("admin@company.com", "printed", "x")
  print("end")
  return receipt.error == nil
end
