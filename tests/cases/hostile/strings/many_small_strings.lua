-- Every string is new, so each must be made.
-- expect: limit_instructions|limit_memory
function run()
  local n = 0
  while true do
    n = n + 1
    local s = n .. ":" .. n * 1.5
  end
end
