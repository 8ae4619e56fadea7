-- `__len` and `__index` give texts without end.
-- expect: limit_memory|limit_instructions|plan_error
function run()
  return #table.concat(setmetatable({}, { __len = function() return 1 << 60 end, __index = function() return "xxxxxxxx" end }))
end
