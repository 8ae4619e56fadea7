-- What pcall gives for a limit is returned as the result.
-- expect: limit_instructions
function run() return { pcall(function() while true do end end) } end
