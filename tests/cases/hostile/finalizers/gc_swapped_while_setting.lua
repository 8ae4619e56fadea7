-- `__gc` is put in while setmetatable is at work, by what it calls.
-- expect: result: "ended"
-- expect: plan_error
-- expect on piccolo: engine_unsupported
function run()
  local mt = {}
  local close = setmetatable({}, { __call = function() mt.__gc = function() while true do end end end })
  mt.__close = close
  mt.__metatable = nil
  local t = setmetatable({}, mt)
  do local x <close> = t end
  pcall(setmetatable, t, mt)
  return "ended"
end
