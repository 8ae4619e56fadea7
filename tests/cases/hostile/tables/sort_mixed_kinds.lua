-- Items that cannot be compared.
-- expect: plan_error attempt to compare
function run() table.sort({ 1, "a", {}, true, 2 }) end
