-- Each result calls a metamethod without end.
-- expect: limit_instructions
function run()
  return table.unpack(setmetatable({}, { __index = function() while true do end end }), 1, 3)
end
