--! expect: plan_syntax 3:16 `[` cannot stand here
function run(context)
  local list = [1, 2, 3]
  return context
end
