-- CVE-2022-28805 (Lua before 5.4.4): `_ENV` as a constant made the compiler read out of bounds.
-- generates: source
-- expect: plan_error
-- expect: plan_syntax
-- expect: plan_no_run
function run() return "local _ENV <const> = {} x = y.z.w function run() return a.b.c end" end
