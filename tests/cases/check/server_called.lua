--! expect: plan_unknown_tool 3:15 `desk` is a group of tools, not a tool
function run(context)
  context.a = desk("x")
  return context
end
