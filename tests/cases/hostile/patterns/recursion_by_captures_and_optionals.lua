-- The same through `(`, `?` and back again.
-- expect: plan_error
-- expect: limit_instructions|limit_memory
function run()
  return string.find(string.rep("ab", 100000), string.rep("(a?)b?", 30) .. string.rep("a-b-", 60000) .. "c")
end
