--! expect: plan_unknown_tool 5:15 Lua's `string` has no `trim`
--! expect: plan_unknown_tool 6:15 Lua's `table` has no `contains`
--! expect: plan_unknown_tool 7:15 Lua's `math` has no `flor`
function run(context)
  context.a = string.trim(context.b)
  context.c = table.contains(context.d, 1)
  context.e = math.flor(1.5)
  return context
end
