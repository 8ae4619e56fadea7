-- A text that could never fit.
-- expect: limit_memory
function run() return #string.rep("x", 1 << 62) end
