-- Each level a call of a table.
-- expect: limit_depth|limit_instructions|plan_error
function run()
  local t = setmetatable({}, {})
  getmetatable(t).__call = function(x) return 1 + x() end
  return t()
end
