-- Far more than allowed must be refused before it is read.
-- generates: source
-- expect: limit_source
function run() return "function run() return 1 end --" .. string.rep("x", 4000000) end
