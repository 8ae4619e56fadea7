--! expect: plan_syntax 3:13 this long string is never closed
function run(context)
  local s = [[ it never ends
  return s
end
