-- tostring gives each object a number that is remembered.
-- expect: limit_instructions|limit_memory
function run() while true do tostring({}) end end
