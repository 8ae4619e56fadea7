--! expect: plan_syntax 3:23 `?` is not Lua
function run(context)
  local x = context.a ? 1 : 2
  return context
end
