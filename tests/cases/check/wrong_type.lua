--! expect: plan_bad_argument 4:51 `query_db`: parameter `limit` must be integer; a string of 3 characters came
--! expect: plan_bad_argument 5:26 `fetch_url`: parameter `urls` must be string|string[]; the number 42 came
function run(context)
  local rows = query_db{ table = "users", limit = "ten" }
  local page = fetch_url(42)
  return rows, page
end
