--! expect: plan_syntax 5:3 write `elseif`
function run(context)
  if context.a then
    print(1)
  else if context.b then
    print(2)
  end
  return context
end
