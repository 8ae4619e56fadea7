-- The handler works on after the end.
-- expect: limit_instructions
function run()
  xpcall(function() while true do end end, function() while true do end end)
  return "ok"
end
