-- error: limit_instructions
function run()
  local mt = {}
  mt.__close = function()
    pcall(setmetatable, {}, {})
    pcall(xpcall, print, print)
    pcall(coroutine.wrap(print))
    pcall(error, "other")
    print("still here")
  end
  pcall(function()
    local x <close> = setmetatable({}, mt)
    while true do end
  end)
  return "ok"
end
-- engine: mlua (on the second engine it has no `<close>` variables)
