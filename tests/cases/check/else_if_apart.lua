--! expect: plan_syntax 2:1 the `else if` on line 5 opens a second block: write `elseif`
function run(context)
  if context.a then
    print(1)
  else if context.b then
    print(2)
  end
  return context
end
