-- The limit is caught once, then the plan says all is well.
-- expect: limit_instructions
function run()
  pcall(function() while true do end end)
  return "ok"
end
