-- More bins than memory.
-- expect: limit_memory|limit_instructions|plan_error
function run() return stats.histogram({ 1, 2, 3 }, 1 << 50) end
