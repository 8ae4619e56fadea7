-- The chunk itself never ends, before `run` exists.
-- expect: limit_instructions
while true do end
function run() end
