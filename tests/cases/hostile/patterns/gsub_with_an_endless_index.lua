-- The replacement is a table whose `__index` never returns.
-- expect: limit_instructions
function run()
  return string.gsub("a", "a", setmetatable({}, { __index = function() while true do end end }))
end
