-- One linear pass over the largest subject that fits, repeated.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("x", 4000000)
  while true do string.match(s, "^x*$") end
end
