--! expect: plan_bad_argument 4:50 `query_db`: parameter `limit` must be at least 1, but is the number 0
--! expect: plan_bad_argument 5:50 `query_db`: parameter `limit` must be at least 1, but is the number -1
function run(context)
  context.x = query_db{ table = "users", limit = 0 }
  context.y = query_db{ table = "users", limit = -1 }
  return context
end
