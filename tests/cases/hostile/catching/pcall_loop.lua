-- The limit is caught and the work begun again.
-- expect: limit_instructions
local function spin() while true do end end
function run()
  while true do pcall(spin) end
  return "ok"
end
