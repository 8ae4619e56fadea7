--! expect: plan_syntax 4:5 `+=` is not Lua
function run(context)
  local n = 0
  n += 1
  return context
end
