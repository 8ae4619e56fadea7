-- A loop without a loop statement.
-- expect: limit_instructions
function run()
  ::again::
  goto again
end
