--! expect: plan_syntax 3:21 this `break` is in no loop
function run(context)
  if context.x then break end
  return context
end
