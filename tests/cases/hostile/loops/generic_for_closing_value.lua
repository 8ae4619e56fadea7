-- The fourth value of a generic for is closed when the loop is left, without end.
-- expect: limit_instructions
-- expect on piccolo: result: {}
function run()
  local closing = setmetatable({}, { __close = function() while true do end end })
  for i in function() return 1 end, nil, nil, closing do
    break
  end
end
