-- The limit comes inside a callback of gsub.
-- expect: limit_instructions
function run()
  pcall(string.gsub, "aaa", "a", function() while true do end end)
  return "ok"
end
