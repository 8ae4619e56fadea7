-- A call of a call of a call, not nested but in a row.
-- generates: source
-- expect: plan_error
-- expect on piccolo: limit_source
function run() return "function run() local f = 1 return f" .. string.rep("()", 30000) .. " end" end
