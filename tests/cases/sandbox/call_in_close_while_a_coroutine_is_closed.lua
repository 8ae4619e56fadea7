-- error: call_not_possible_here
function run()
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function() echo("closed") end })
    coroutine.yield()
  end)
  coroutine.resume(co)
  local ok, why = coroutine.close(co)
  error(why)
end
-- engine: mlua (on the second engine it has no `<close>` variables)
