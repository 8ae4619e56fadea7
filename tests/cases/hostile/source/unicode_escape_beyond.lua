-- The largest code point an escape may name, and one more.
-- generates: source
-- expect: plan_syntax
function run() return "function run() return '\\u{7FFFFFFF}' .. '\\u{80000000}' end" end
