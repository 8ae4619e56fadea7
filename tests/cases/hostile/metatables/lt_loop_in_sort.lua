-- `__lt` never returns, under sort.
-- expect: limit_instructions
function run()
  local mt = { __lt = function() while true do end end }
  table.sort({ setmetatable({}, mt), setmetatable({}, mt) })
end
