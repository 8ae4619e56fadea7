-- Thousands of `<close>` and `<const>` in one block.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() " .. string.rep("local a <close> = nil local b <const> = 1 ", 1400) .. " end" end
