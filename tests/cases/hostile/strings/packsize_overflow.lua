-- Sizes that add up beyond a machine word.
-- expect: plan_error too large
-- expect: plan_error too long
-- expect: plan_error invalid
function run() return string.packsize(string.rep("c2147483647", 3)) end
