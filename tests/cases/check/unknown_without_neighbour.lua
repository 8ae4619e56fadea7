--! expect: plan_unknown_tool 3:3 `launch_rocket` is called, but is neither a tool nor defined in the plan
function run(context)
  launch_rocket("moon")
  return context
end
