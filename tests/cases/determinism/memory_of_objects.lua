-- Closures, coroutines and tables as keys, kept and dropped, until the memory is used up.
function run()
  local kept, seen = {}, {}
  for place = 1, 10000000 do
    local object = { place }
    seen[object] = place
    seen[function() return object end] = place
    if place % 3 == 0 then kept[#kept + 1] = coroutine.wrap(function() coroutine.yield(object) end) kept[#kept]() end
    if place % 5 == 0 then seen[object] = nil end
  end
end
