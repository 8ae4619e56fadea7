-- One instruction that joins two hundred texts.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("x", 20000)
  while true do
    local t = s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s
  end
end
