-- Each item moved calls two metamethods.
-- expect: limit_instructions
function run()
  local t = setmetatable({}, { __index = function(_, k) return k end, __newindex = function() end })
  table.move(t, 1, 1000000000, 2, t)
end
