-- A long text built one character at a time: quadratic copying in linear instructions.
-- expect: limit_instructions|limit_memory
function run()
  local s = ""
  while true do s = s .. "xxxxxxxxxxxxxxxx" end
end
