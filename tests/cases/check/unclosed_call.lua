--! expect: plan_syntax 4:3 expected `)` to close argument list, near `local`
function run(context)
  local rows = query_db({table = "users"}
  local n = #rows
  return context
end
