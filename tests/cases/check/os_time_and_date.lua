--! expect: plan_forbidden_global 4:17 `os.time` does not exist in the sandbox
--! expect: plan_forbidden_global 5:17 format dates with the `date` library
function run(context)
  context.now = os.time()
  context.day = os.date("%Y-%m-%d")
  return context
end
