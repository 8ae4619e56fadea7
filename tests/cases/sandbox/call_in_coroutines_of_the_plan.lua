-- result: ["wrapped",[true,"resumed"],"direct","nested"]
function run()
  local wrapped = coroutine.wrap(function() return echo("wrapped") end)()
  local resumed = { coroutine.resume(coroutine.create(function() return echo("resumed") end)) }
  local nested = coroutine.wrap(function()
    return coroutine.wrap(function() return coroutine.wrap(echo)("nested") end)()
  end)()
  return { wrapped, resumed, coroutine.wrap(echo)("direct"), nested }
end
