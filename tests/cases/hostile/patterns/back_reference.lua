-- A capture compared with the rest of the subject at every length.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 30000)
  return string.find(s, "(.*)%1b")
end
