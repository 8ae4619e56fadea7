-- Handlers that bring their values back to life.
-- expect: limit_memory|limit_instructions
-- expect on piccolo: engine_unsupported
local kept = {}
function run()
  while true do
    local x <close> = setmetatable({}, { __close = function(v) kept[#kept + 1] = v end })
  end
end
