-- The handler runs when a limit has already stopped its frame.
-- expect: limit_instructions
-- expect on piccolo: engine_unsupported
function run()
  local x <close> = setmetatable({}, { __close = function() while true do end end })
  while true do end
end
