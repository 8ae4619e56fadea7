--! expect: plan_syntax 3:17 `:` cannot stand here
function run(context)
  local s = "%d":format(3)
  return context
end
