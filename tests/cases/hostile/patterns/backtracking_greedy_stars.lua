-- Nested greedy repetition that fails at the last character.
-- expect: limit_instructions
function run()
  return string.match(string.rep("a", 200), string.rep("a*", 12) .. "b")
end
