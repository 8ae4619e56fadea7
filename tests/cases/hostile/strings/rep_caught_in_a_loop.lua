-- The refusal of a text that is too large, caught.
-- expect: limit_memory
function run() while true do pcall(string.rep, "x", 1 << 40) end end
