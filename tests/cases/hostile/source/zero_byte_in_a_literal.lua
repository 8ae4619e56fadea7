-- NUL inside a literal is a character like any other.
-- generates: source
-- expect: result: 3
-- expect on piccolo: plan_syntax
function run() return "function run() return #'a\0b' end" end
