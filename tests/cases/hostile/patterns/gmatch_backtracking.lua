-- The first step of the iterator never ends.
-- expect: limit_instructions
function run()
  for x in string.gmatch(string.rep("a", 40), string.rep("a?", 40) .. string.rep("a", 40)) do end
end
