-- A format of hundreds of thousands of options.
-- expect: limit_instructions|limit_memory
function run()
  local f = string.rep("x", 500000)
  while true do string.pack(f) end
end
