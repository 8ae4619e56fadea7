-- A program cut off in the middle of a token.
-- generates: source
-- expect: plan_syntax
function run() return "function run() return 'abc\\x4" end
