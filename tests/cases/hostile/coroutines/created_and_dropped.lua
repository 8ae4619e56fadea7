-- Coroutines made and never run.
-- expect: limit_instructions|limit_memory
function run() while true do coroutine.create(print) end end
