-- NUL behind a program that is complete.
-- generates: source
-- expect: plan_syntax
function run() return "function run() return 1 end\0garbage that C would not see" end
