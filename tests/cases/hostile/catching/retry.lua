-- retry of what breaks the limit.
-- expect: limit_instructions
function run()
  pcall(retry, 10, function() while true do end end)
  return "ok"
end
