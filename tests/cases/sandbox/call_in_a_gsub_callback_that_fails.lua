-- error: plan_error line 4: invalid replacement value (a table)
function run()
  -- a strict error value is no replacement
  return (string.gsub("a", "a", function() return fail("no luck") end))
end
