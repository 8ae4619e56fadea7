-- error: must_failed the orders of today: call 1 (fail, line 3) failed: out of order
function run()
  local orders = must(fail("out of order"), "the orders of today")
  return #orders
end
