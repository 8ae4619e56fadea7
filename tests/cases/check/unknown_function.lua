--! expect: plan_unknown_tool 3:16 did you mean `query_db`?
function run(context)
  local rows = qurey_db{ table = "users" }
  context.rows = rows
  context.more = qurey_db{ table = "more" }
  return context
end
