-- The plainest loop.
-- expect: limit_instructions
function run() while true do end end
