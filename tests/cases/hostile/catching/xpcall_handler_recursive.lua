-- The handler is itself protected, with itself as handler.
-- expect: limit_instructions|limit_depth|plan_error
local function handler(e)
  xpcall(error, handler, e)
  while true do end
end
function run()
  xpcall(error, handler, "x")
  return "ok"
end
