-- An error nobody looks at fails the run at its end.
function run(context)
  query_db{ table = "missing" }
  local receipt = send_email("admin@company.com", "after an ignored error", "x")
  return receipt.error == nil
end
