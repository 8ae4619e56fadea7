--! expect: plan_bad_argument 3:28 `desk.search` has no parameter `qeury`; did you mean `query`?
function run(context)
  context.x = desk.search{ qeury = "x" }
  return context
end
