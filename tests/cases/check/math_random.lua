--! expect: plan_forbidden_global 4:3 `math.randomseed` does not exist in the sandbox
--! expect: plan_forbidden_global 5:15 `math.random` does not exist in the sandbox
function run(context)
  math.randomseed(1)
  context.x = math.random(1, 6)
  return context
end
