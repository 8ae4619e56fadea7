-- Long expressions instead of loops, repeated.
-- expect: limit_instructions
function run()
  local a, b = 1, 2
  while not (a > b and a > b and a > b and a > b) or a < b do
    a, b = b - 1, a + 1
  end
  return run()
end
