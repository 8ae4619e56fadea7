-- Globals without end.
-- expect: limit_memory|limit_instructions
function run()
  local i = 0
  while true do i = i + 1 _G["global" .. i] = { i } end
end
