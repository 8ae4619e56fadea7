-- A literal of sixty thousand bytes.
-- generates: source
-- expect: result: 60000
function run() return "function run() return #'" .. string.rep("x", 60000) .. "' end" end
