function run(context)
  local producer = coroutine.wrap(function()
    for i = 1, 3 do coroutine.yield(i * i) end
  end)
  local squares = {}
  for value in producer do table.insert(squares, value) end
  local co = coroutine.create(function(a) return a end)
  local ok, value = coroutine.resume(co, 1)
  context.squares, context.ok, context.value = squares, ok, value
  context.status = coroutine.status(co)
  return context
end
