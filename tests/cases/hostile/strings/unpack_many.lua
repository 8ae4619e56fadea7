-- As many results as the format asks for.
-- expect: plan_error too many results
-- expect: limit_memory|limit_instructions
function run()
  return select("#", string.unpack(string.rep("b", 2000000), string.rep("x", 2000000)))
end
