-- CVE-2021-44964 (Lua 5.4.0 to 5.4.3): finalizers brought objects back while the state was collected. Here: the finalizer put in by every way that gets past a check.
-- expect: result: "ended"
-- expect: plan_error
function run()
  local mt = {}
  local objects = {}
  for i = 1, 100 do objects[i] = setmetatable({}, mt) end
  mt.__gc = function(o) objects[#objects + 1] = o end
  for i = 1, 100 do pcall(setmetatable, objects[i], mt) end
  objects = {}
  for i = 1, 10000 do local x = { i } end
  return "ended"
end
