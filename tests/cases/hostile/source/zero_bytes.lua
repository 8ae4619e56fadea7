-- NUL bytes between tokens, and in a literal.
-- generates: source
-- expect: plan_syntax
function run() return "function run()\0 return '\0' end" end
