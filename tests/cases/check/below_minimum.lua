--! expect: plan_bad_argument 4:50 `query_db`: parameter `limit` must be at least 1; the number 0 came
--! expect: plan_bad_argument 5:50 `query_db`: parameter `limit` must be at least 1; the number -1 came
function run(context)
  context.x = query_db{ table = "users", limit = 0 }
  context.y = query_db{ table = "users", limit = -1 }
  return context
end
