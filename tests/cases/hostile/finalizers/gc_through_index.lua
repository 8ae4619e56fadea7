-- A metatable that gets its `__gc` from its own metatable.
-- expect: limit_instructions
function run()
  local mt = setmetatable({}, { __index = function(_, k) if k == "__gc" then return function() while true do end end end end })
  local t = setmetatable({}, mt)
  t = nil
  while true do local x = {} end
end
