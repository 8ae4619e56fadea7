--! expect: plan_forbidden_global 4:15 `os.getenv` does not exist in the sandbox
--! expect: plan_forbidden_global 5:15 `io` does not exist in the sandbox
function run(context)
  context.x = _G.os.getenv("HOME")
  context.y = _G["io"]
  return context
end
