-- result: [1,"closed"]
function run()
  local log = {}
  local closing = setmetatable({}, { __close = function() log[#log + 1] = echo("closed") end })
  for i in function(_, i) return (i or 0) + 1 end, nil, nil, closing do
    log[#log + 1] = i
    break
  end
  return log
end
-- engine: mlua (on the second engine its generic `for` closes nothing)
