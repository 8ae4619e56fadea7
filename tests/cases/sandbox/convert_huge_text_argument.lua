-- error: limit_memory
function run()
  local s = string.rep("x", 6000000)
  echo({ s, s, s })
end
