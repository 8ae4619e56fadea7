-- Megabytes of control characters.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("\1", 500000)
  while true do json.encode({ s }) end
end
