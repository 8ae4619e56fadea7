-- The iterator is called inside the loop over it, and by a coroutine.
-- expect: result: "a b c d"
function run()
  local it, seen = string.gmatch("a b c d", "%a"), {}
  for x in it do
    seen[#seen + 1] = x
    local co = coroutine.wrap(function() return it() end)
    seen[#seen + 1] = co()
  end
  return table.concat(seen, " ")
end
