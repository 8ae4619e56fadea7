-- Closures with a variable of their own each.
-- expect: limit_memory
function run()
  local t = {}
  while true do
    local x = #t
    t[x + 1] = function() x = x + 1 return x end
  end
end
