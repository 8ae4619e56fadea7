-- The arguments of all branches are held at once.
-- expect: limit_memory
function run()
  local s, fs = string.rep("x", 2000000), {}
  for i = 1, 15 do fs[i] = function() return echo(s .. i) end end
  parallel(fs)
end
