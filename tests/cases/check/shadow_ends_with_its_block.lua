--! expect: plan_forbidden_global 7:17 `os.time` does not exist in the sandbox
function run(context)
  do
    local os = { time = print }
    os.time()
  end
  context.now = os.time()
  return context
end
