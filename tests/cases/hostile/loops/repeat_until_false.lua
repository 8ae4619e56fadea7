-- A loop whose condition is never true.
-- expect: limit_instructions
function run() repeat local x = 1 until not x end
