-- A `__call` that is the table itself, put in after setmetatable has looked.
-- late: 1500 ms, as Lua walks a chain of `__call` in one instruction, moving the stack at each link
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
function run()
  local mt = {}
  local t = setmetatable({}, mt)
  mt.__call = t
  return t()
end
