-- Each level inside `__tostring`.
-- expect: limit_depth|limit_instructions|plan_error
function run()
  local t = setmetatable({}, {})
  getmetatable(t).__tostring = function(x) return tostring(x) end
  return tostring(t)
end
