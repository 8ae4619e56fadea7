-- Two labels that jump to one another, with a block to leave each time.
-- expect: limit_instructions
function run()
  local n = 0
  ::a::
  do
    n = n + 1
    goto b
  end
  ::b::
  do
    goto a
  end
end
