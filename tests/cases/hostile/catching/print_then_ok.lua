-- The print limit caught.
-- expect: limit_print
function run()
  pcall(function() while true do print(string.rep("x", 1000)) end end)
  return "ok"
end
