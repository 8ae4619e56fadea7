-- `__eq` never returns.
-- expect: limit_instructions
function run()
  local mt = { __eq = function() while true do end end }
  return setmetatable({}, mt) == setmetatable({}, mt)
end
