--! expect: plan_forbidden_global 3:15 `string.dump` does not exist in the sandbox
function run(context)
  context.x = string.dump(print)
  return context
end
