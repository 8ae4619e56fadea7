-- error: tool_error_used test `.error` before
function run()
  local r = fail("x")
  local ok, why = pcall(function() return r.rows end)
  error(why)
end
