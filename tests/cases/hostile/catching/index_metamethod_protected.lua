-- A metamethod that is pcall itself.
-- expect: limit_instructions|limit_depth|plan_error
function run()
  local t = setmetatable({}, { __index = pcall, __call = pcall })
  while true do
    local x = t.key
    local y = t(t)
  end
end
