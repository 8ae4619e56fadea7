--! expect: plan_syntax 3:18 `...` stands outside a function that takes it
function run(context)
  local args = { ... }
  print(#args)
  return context
end
