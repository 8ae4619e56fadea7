-- Replacements that are larger than the text.
-- expect: limit_memory
function run()
  local s = string.rep("a", 100000)
  return #text.replace(s, "a", s)
end
