-- Each level inside `__index`.
-- expect: limit_depth|limit_instructions|plan_error
function run()
  local t = setmetatable({}, {})
  getmetatable(t).__index = function(x, k) return x[k .. "x"] end
  return t.x
end
