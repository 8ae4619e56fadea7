-- The replacement never returns.
-- expect: limit_instructions
function run() return string.gsub("a", "a", function() while true do end end) end
