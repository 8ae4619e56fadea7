--! expect: plan_no_run 2:16 only a global counts
local function run(context)
  return context
end
return run
