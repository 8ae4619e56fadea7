--! expect: warning plan_unknown_tool 4:3 `anything` is called, but is neither a tool nor defined in the plan
function run(context)
  setmetatable(_G, { __index = function() return print end })
  anything("x")
  return context
end
