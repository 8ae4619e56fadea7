--! expect: plan_syntax 3:12 `<constant>` is no attribute of Lua
function run(context)
  local x <constant> = 3
  print(x)
  return context
end
