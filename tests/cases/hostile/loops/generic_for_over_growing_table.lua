-- A walk over a table that grows before the walker.
-- expect: limit_instructions|limit_memory
function run()
  local t = { 1 }
  for i, v in ipairs(t) do t[i + 1] = v end
end
