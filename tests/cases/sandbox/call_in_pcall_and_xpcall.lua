-- result: [true,"a",false,"handled b",true,"c",[true,true,"d"]]
function run()
  local ok1, a = pcall(echo, "a")
  local ok2, b = xpcall(error, function(e) return echo("handled " .. e) end, "b")
  local ok3, c = xpcall(echo, error, "c")
  return { ok1, a, ok2, b, ok3, c, { pcall(pcall, echo, "d") } }
end
