-- A finalizer put in after setmetatable has looked does nothing.
-- expect: limit_instructions
function run()
  local mt = {}
  local t = setmetatable({}, mt)
  mt.__gc = function() while true do end end
  setmetatable({}, nil)
  t = nil
  while true do local x = {} end
end
