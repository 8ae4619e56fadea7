-- A table whose `__call` is the table.
-- late: 1500 ms, as Lua walks a chain of `__call` in one instruction, moving the stack at each link
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
function run()
  local t = {}
  setmetatable(t, { __call = t })
  return t()
end
