--! expect: plan_bad_argument 4:51 `query_db`: parameter `limit` must be an integer, but is a string of 3 characters
--! expect: plan_bad_argument 5:26 `fetch_url`: parameter `urls` must be string|string[], but is the number 42
function run(context)
  local rows = query_db{ table = "users", limit = "ten" }
  local page = fetch_url(42)
  return rows, page
end
