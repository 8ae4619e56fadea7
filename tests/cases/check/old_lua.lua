--! expect: plan_forbidden_global 5:15 `table.getn` does not exist in the sandbox
--! expect: plan_forbidden_global 6:15 `unpack` does not exist in the sandbox
--! expect: plan_forbidden_global 7:15 `math.pow` does not exist in the sandbox
function run(context)
  context.n = table.getn(context.t)
  context.a = unpack(context.t)
  context.p = math.pow(2, 3)
  return context
end
