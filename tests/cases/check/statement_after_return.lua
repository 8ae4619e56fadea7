--! expect: plan_syntax 4:3 nothing may follow `return` in its block, near `print`
function run(context)
  return context
  print("done")
end
