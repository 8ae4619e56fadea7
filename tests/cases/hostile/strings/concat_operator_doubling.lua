-- A text doubled by the operator until it does not fit.
-- expect: limit_memory
function run()
  local s = "x"
  while true do s = s .. s end
end
