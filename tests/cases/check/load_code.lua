--! expect: plan_forbidden_global 4:13 `load` does not exist in the sandbox
--! expect: plan_forbidden_global 5:15 `loadstring` does not exist in the sandbox
function run(context)
  local f = load("return 1")
  context.x = loadstring and f()
  return context
end
