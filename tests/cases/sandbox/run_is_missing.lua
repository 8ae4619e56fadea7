-- error: plan_no_run defines no global function `run`
local function run() end
