-- A pattern without specials takes the plain way.
-- expect: limit_instructions
function run()
  local s = string.rep("a", 1000000) .. "c"
  while true do string.find(s, string.rep("a", 1000) .. "b") end
end
