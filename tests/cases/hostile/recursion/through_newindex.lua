-- Each level inside `__newindex`.
-- expect: limit_depth|limit_instructions|plan_error
function run()
  local t = setmetatable({}, {})
  getmetatable(t).__newindex = function(x, k, v) x[k + 1] = v end
  t[1] = 1
end
