--! expect: plan_syntax 3:13 this number is malformed
function run(context)
  local n = 1_000
  return context
end
