-- A constructor filled by a call with hundreds of thousands of results.
-- expect: limit_instructions|limit_memory|plan_error
function run() while true do local t = { table.unpack({}, 1, 250000) } end end
