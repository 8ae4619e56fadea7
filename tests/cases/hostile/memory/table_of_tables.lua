-- Tables, kept.
-- expect: limit_memory
function run()
  local t = {}
  while true do t[#t + 1] = {} end
end
