-- Hundreds of thousands of results a call.
-- expect: limit_instructions|limit_memory|plan_error
function run() while true do local n = select("#", table.unpack({}, 1, 200000)) end end
