--! expect: plan_syntax 3:14 `\3` is not an escape Lua knows, or is not complete
function run(context)
  local s = "\300"
  return context
end
