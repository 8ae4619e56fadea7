-- printed: before
-- error: limit_instructions
function run()
  print("before")
  local function spin() while true do end end
  pcall(spin)
  print("after")
  xpcall(spin, function() print("handled") end)
end
