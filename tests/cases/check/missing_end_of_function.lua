--! expect: plan_syntax 5:1 nothing may follow `return` in its block, near `function`
local function f()
  return 1

function run(context)
  return f()
end
