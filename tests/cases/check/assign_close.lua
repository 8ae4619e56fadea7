--! expect: plan_syntax 4:3 `h` is constant and cannot be assigned
function run(context)
  local h <close> = nil
  h = 1
  return context
end
