--! expect: plan_forbidden_global 4:16 `io.open` does not exist in the sandbox
--! expect: plan_forbidden_global 5:3 `io.write` does not exist in the sandbox
function run(context)
  local file = io.open("x")
  io.write("y")
  return context
end
