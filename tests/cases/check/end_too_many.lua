--! expect: plan_syntax 8:1 this `end` closes nothing
function run(context)
  if context.x then
    print(1)
  end
  end
  return context
end
