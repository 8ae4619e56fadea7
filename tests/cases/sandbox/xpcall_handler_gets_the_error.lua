-- result: [false,"handled 7",false,"handled plan.lua:4: text"]
function run()
  local ok1, a = xpcall(error, function(e) return "handled " .. e end, 7)
  local ok2, b = xpcall(function() error("text") end, function(e) return "handled " .. e end)
  return { ok1, a, ok2, b }
end
