-- Every function of the library with every kind of argument.
-- expect: result: "ended"
function run()
  local args = { nil, 1, "x", {}, print, coroutine.create(print), coroutine.running(), null, true }
  for _, f in pairs(coroutine) do
    if f ~= coroutine.yield then
      for i = 1, 9 do pcall(f, args[i]) pcall(f, args[i], args[10 - i]) end
    end
  end
  return "ended"
end
