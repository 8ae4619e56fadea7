-- ipairs respects `__index`, which always has an answer.
-- expect: limit_instructions
function run()
  for i in ipairs(setmetatable({}, { __index = function(_, i) return i end })) do end
end
