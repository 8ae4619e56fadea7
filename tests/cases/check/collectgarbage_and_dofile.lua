--! expect: plan_forbidden_global 4:3 `collectgarbage` does not exist in the sandbox
--! expect: plan_forbidden_global 5:3 `dofile` does not exist in the sandbox
function run(context)
  collectgarbage("collect")
  dofile("x.lua")
  return context
end
