-- The same while a coroutine is closed.
-- expect: limit_instructions
-- expect on piccolo: engine_unsupported
function run()
  local co = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function() while true do end end })
    coroutine.yield()
  end)
  coroutine.resume(co)
  pcall(coroutine.close, co)
  return "ok"
end
