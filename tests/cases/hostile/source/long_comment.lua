-- A comment that is never closed.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() end --[[" .. string.rep("]", 60000) end
