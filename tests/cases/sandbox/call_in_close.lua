-- result: ["body","closed","broken","closed","failed","closed"]
function run()
  local log = {}
  local function closing()
    return setmetatable({}, { __close = function() log[#log + 1] = echo("closed") end })
  end
  do
    local x <close> = closing()
    log[#log + 1] = "body"
  end
  for i = 1, 3 do
    local x <close> = closing()
    log[#log + 1] = "broken"
    break
  end
  pcall(function()
    local x <close> = closing()
    log[#log + 1] = "failed"
    error("x")
  end)
  return log
end
-- engine: mlua (on the second engine it has no `<close>` variables)
