-- Memory used up inside a metamethod of a comparison.
-- expect: limit_memory
function run()
  local t = setmetatable({}, { __lt = function() local s = "x" while true do s = s .. s end end })
  pcall(function() return t < t end)
  return "ok"
end
