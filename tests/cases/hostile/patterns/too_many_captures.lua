-- One more capture than there may be.
-- expect: plan_error too many captures
function run() return string.find("x", string.rep("()", 33)) end
