-- Many thousand results a call.
-- expect: limit_instructions|limit_memory|plan_error
function run()
  local s = string.rep("x", 100000)
  while true do local n = select("#", s:byte(1, -1)) end
end
