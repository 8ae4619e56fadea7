-- Bounds that are not numbers in any order.
-- expect: result: 0
function run()
  local n = 0
  for i = 1, 0 / 0 do n = n + 1 end
  return n
end
