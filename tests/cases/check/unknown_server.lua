--! expect: plan_unknown_tool 3:15 `github.search` is called, but `github` is neither a tool nor defined in the plan
function run(context)
  context.a = github.search{ query = "x" }
  return context
end
