-- Different strings, kept.
-- expect: limit_memory|limit_instructions
function run()
  local t = {}
  while true do t[#t + 1] = string.rep("x", 1000) .. #t end
end
