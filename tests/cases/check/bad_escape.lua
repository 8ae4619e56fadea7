--! expect: plan_syntax 3:21 `\.` is not an escape Lua knows, or is not complete
function run(context)
  local pattern = "a\.b"
  return context
end
