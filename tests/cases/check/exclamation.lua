--! expect: plan_syntax 3:6 `!` is not Lua
function run(context)
  if !context.a then print(1) end
  return context
end
