-- A result larger than the output limit.
-- expect: limit_output
function run() return string.rep("x", 1000000) end
