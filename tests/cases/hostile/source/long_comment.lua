-- A comment that is never closed.
-- generates: source
-- expect: plan_syntax
function run() return "function run() end --[[" .. string.rep("]", 60000) end
