-- CVE-2025-46819: the same in a comment, with a level that does not fit its end.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() end --[" .. string.rep("=", 32000) .. "[" .. "x]" .. string.rep("=", 31999) .. "]" end
