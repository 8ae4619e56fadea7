--! expect: plan_syntax 3:13 this is not a complete statement: a call or an assignment is expected, near `+`
function run(context)
  context.x + 1
  return context
end
