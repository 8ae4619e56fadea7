-- `__pairs` gives an iterator without end.
-- expect: limit_instructions
function run()
  local t = setmetatable({}, { __pairs = function(t) return function() return 1, 2 end, t end })
  for k, v in pairs(t) do end
end
