--! expect: plan_syntax 3:16 `!=` is not Lua
function run(context)
  if context.x != 1 then print(1) end
  return context
end
