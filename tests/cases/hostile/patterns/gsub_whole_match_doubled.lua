-- %0 twice, again and again.
-- expect: limit_memory|limit_instructions
function run()
  local s = "ab"
  while true do s = string.gsub(s, ".*", "%0%0", 1) end
end
