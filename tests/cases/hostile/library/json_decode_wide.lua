-- A list of a million numbers, decoded again and again.
-- expect: limit_instructions|limit_memory
function run()
  local s = "[" .. string.rep("1,", 200000) .. "1]"
  while true do json.decode(s) end
end
