--! expect: plan_unknown_tool 4:15 did you mean `desk.search`?
--! expect: plan_unknown_tool 5:15 `desk` has desk.search
function run(context)
  context.a = desk.serach{ query = "x" }
  context.b = desk.close(1)
  return context
end
