-- The limit is caught in the chunk, and `run` is defined after it.
-- expect: limit_instructions
pcall(function() while true do end end)
function run() return "ok" end
