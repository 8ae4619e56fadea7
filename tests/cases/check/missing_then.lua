--! expect: plan_syntax 4:5 expected `then` after if condition, near `print`
function run(context)
  if context.x
    print(1)
  end
  return context
end
