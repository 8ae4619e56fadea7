-- retry inside an endless loop, of a function that always fails.
-- expect: limit_instructions
function run() while true do pcall(retry, 10, error, "again") end end
