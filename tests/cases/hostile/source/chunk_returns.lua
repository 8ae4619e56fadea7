-- The chunk itself returns, before it defines run.
-- generates: source
-- expect: plan_no_run
function run() return "do return 1 end function run() end" end
