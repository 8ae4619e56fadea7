-- close is called again by the handler it runs.
-- expect: result: "ended"
-- expect: limit_depth|plan_error
-- expect on piccolo: engine_unsupported
function run()
  local co
  co = coroutine.create(function()
    local x <close> = setmetatable({}, { __close = function() coroutine.close(co) end })
    coroutine.yield()
  end)
  coroutine.resume(co)
  pcall(coroutine.close, co)
  return "ended"
end
