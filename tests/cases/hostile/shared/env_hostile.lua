-- An environment whose every name is a trap.
-- expect: limit_instructions
local setmetatable = setmetatable
function run()
  local _ENV = setmetatable({}, { __index = function() while true do end end })
  return x
end
