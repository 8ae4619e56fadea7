-- pcall called by pcall called by pcall.
-- expect: limit_instructions
function run()
  pcall(pcall, pcall, pcall, function() while true do end end)
  return "ok"
end
