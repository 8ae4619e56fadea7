-- Megabytes built and dropped again and again.
-- expect: limit_instructions
function run() while true do string.rep("x", 1000000) end end
