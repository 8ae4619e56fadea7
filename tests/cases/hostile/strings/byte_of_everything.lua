-- As many results as there are bytes.
-- expect: plan_error too many results
-- expect: plan_error string slice too long
-- expect: limit_memory|limit_instructions
function run() return select("#", string.byte(string.rep("x", 5000000), 1, -1)) end
