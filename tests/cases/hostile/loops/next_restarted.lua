-- next is started again whenever it ends.
-- expect: limit_instructions
function run()
  local t, k = { 1, 2, 3 }, nil
  while true do k = next(t, k) end
end
