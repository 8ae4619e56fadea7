-- A `__call` that is the table itself, put in after setmetatable has looked.
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
-- expect on piccolo: limit_wall|worker_crashed
-- expect on piccolo: limit_instructions
function run()
  local mt = {}
  local t = setmetatable({}, mt)
  mt.__call = t
  return t()
end
