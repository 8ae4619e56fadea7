-- Closures that hold one another.
-- expect: limit_memory
function run()
  local f = function() end
  while true do
    local g = f
    f = function() return g end
  end
end
