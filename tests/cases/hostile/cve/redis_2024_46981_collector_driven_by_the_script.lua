-- CVE-2024-46981: a script drove the collector so that memory was used after it was freed when the VM was closed. Here: cycles of coroutines, closures and metatables left over, garbage made at every step, no collector to call.
-- expect: result: "ended"
-- expect on piccolo: engine_unsupported
function run()
  local ring = {}
  for i = 1, 500 do
    local co
    co = coroutine.wrap(function(x)
      local up <close> = setmetatable({ ring, co, x }, { __close = function(v) ring[#ring + 1] = v end, __index = ring })
      coroutine.yield(function() return up, x, co end)
    end)
    ring[#ring + 1] = { co(string.rep("g", i)), co }
    for j = 1, 20 do local garbage = { {}, j .. "x" } end
  end
  return "ended"
end
