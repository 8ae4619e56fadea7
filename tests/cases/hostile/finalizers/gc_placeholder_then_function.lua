-- A placeholder for the finalizer is refused too: Lua marks objects by the mere key.
-- expect: plan_error __gc
function run()
  local mt = { __gc = true }
  local t = setmetatable({}, mt)
  mt.__gc = function() while true do end end
  return 1
end
