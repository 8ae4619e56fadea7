-- The lazy form of the same.
-- expect: limit_instructions
function run()
  return string.match(string.rep("a", 200), "^" .. string.rep(".-", 12) .. "b")
end
