--! expect: plan_syntax 3:3 this `goto` jumps into the scope of the local `x`
function run(context)
  goto last
  local x = 1
  ::last::
  print(x)
  return context
end
