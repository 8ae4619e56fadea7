--! expect: plan_syntax 3:16 `&&` is not Lua
function run(context)
  if context.a && context.b then print(1) end
  return context
end
