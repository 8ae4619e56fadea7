--! expect: plan_syntax 4:4 `++` is not Lua
function run(context)
  local n = 0
  n++
  return context
end
