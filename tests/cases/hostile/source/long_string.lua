-- A literal of sixty thousand bytes.
-- generates: source
-- expect: result: 60000
-- expect on piccolo: limit_source
function run() return "function run() return #'" .. string.rep("x", 60000) .. "' end" end
