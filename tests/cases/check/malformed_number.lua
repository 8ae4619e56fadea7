--! expect: plan_syntax 3:13 this number is malformed
function run(context)
  local n = 3x
  local m = 0x
  local k = 1..2
  return context
end
