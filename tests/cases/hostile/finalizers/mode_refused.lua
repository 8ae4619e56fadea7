-- Weak tables would show when garbage is collected.
-- expect: plan_error __mode
function run() setmetatable({}, { __mode = "k" }) end
