--! expect: plan_forbidden_global 3:3 `os.execute` does not exist in the sandbox
function run(context)
  os.execute("ls")
  return context
end
