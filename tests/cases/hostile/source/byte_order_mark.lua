-- A byte order mark at the start.
-- generates: source
-- expect: result: 1
-- expect: plan_syntax
function run() return "\xEF\xBB\xBFfunction run() return 1 end" end
