-- Each link of a chain of `__call` moves twenty thousand arguments.
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory|limit_wall
-- expect on piccolo: limit_wall|worker_crashed
-- expect on piccolo: limit_instructions
function run()
  local many = {}
  for i = 1, 20000 do many[i] = i end
  local t = {}
  setmetatable(t, { __call = t })
  return t(table.unpack(many))
end
