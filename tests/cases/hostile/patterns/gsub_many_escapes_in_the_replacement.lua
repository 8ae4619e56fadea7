-- A replacement of nothing but escapes.
-- expect: limit_instructions|limit_memory
function run()
  local r = string.rep("%%", 5000)
  return #string.gsub(string.rep("a", 5000), "a", r)
end
