-- A shebang line and nothing else.
-- generates: source
-- expect: plan_no_run
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "#" .. string.rep("!", 60000) end
