-- Tables with a metatable of their own each.
-- expect: limit_memory|limit_instructions
function run()
  local t = {}
  while true do t = setmetatable({}, { __index = t, __newindex = t }) end
end
