-- A byte order mark inside.
-- generates: source
-- expect: plan_syntax
function run() return "function run() \xEF\xBB\xBFreturn 1 end" end
