-- The classic: n optional letters against n letters.
-- expect: limit_instructions
function run()
  return string.find(string.rep("a", 40), string.rep("a?", 40) .. string.rep("a", 40))
end
