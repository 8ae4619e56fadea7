-- Memory used up once, then the plan says all is well.
-- expect: limit_memory
function run()
  pcall(function() local s = "x" while true do s = s .. s end end)
  return "ok"
end
