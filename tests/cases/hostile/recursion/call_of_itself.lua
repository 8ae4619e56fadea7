-- A table whose `__call` is the table.
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
-- expect on piccolo: limit_wall|worker_crashed
-- expect on piccolo: limit_instructions
function run()
  local t = {}
  setmetatable(t, { __call = t })
  return t()
end
