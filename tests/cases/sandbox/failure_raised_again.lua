-- error: tool_error_used call 1 (fail, line 4)
function run()
  -- a failure thrown as it is keeps its code
  local r = fail("x")
  if r.error then error(r) end
end
