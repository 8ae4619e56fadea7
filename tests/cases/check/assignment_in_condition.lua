--! expect: plan_syntax 3:16 expected `then` after if condition, near `=`
function run(context)
  if context.a = 1 then print(1) end
  return context
end
