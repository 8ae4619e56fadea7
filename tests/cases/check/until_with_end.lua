--! expect: plan_syntax 5:3 the `repeat`
function run(context)
  repeat
    print(1)
  end
  return context
end
