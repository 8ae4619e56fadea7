--! expect: plan_no_run 1:1 the plan defines no global function `run`
local function helper(context)
  return context
end
return helper
