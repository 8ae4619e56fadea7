-- A comparator that sorts.
-- expect: limit_instructions|limit_depth|plan_error
local t = { 3, 1, 2 }
local function before(a, b)
  table.sort(t, before)
  return a < b
end
function run() table.sort(t, before) end
