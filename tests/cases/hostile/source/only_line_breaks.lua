-- Sixty thousand empty lines, then an error: the line number must be right.
-- generates: source
-- expect: plan_syntax line 60001
-- expect on piccolo: limit_source
function run() return string.rep("\n", 60000) .. "function run( end" end
