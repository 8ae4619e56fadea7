-- Errors of every kind pass through many layers of wrap.
-- expect: result: "ended"
function run()
  for _, e in ipairs({ 1, "x", {}, print, true, null }) do
    local f = function() error(e) end
    for i = 1, 30 do local g = f f = function() return coroutine.wrap(g)() end end
    local ok = pcall(f)
    assert(not ok)
  end
  return "ended"
end
