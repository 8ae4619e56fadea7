-- A hundred handlers, each of which would like its own share after the end.
-- expect: limit_instructions
-- expect on piccolo: engine_unsupported
local mt = { __close = function() for i = 1, 1e9 do end end }
local function nest(n)
  local x <close> = setmetatable({}, mt)
  if n > 0 then nest(n - 1) else while true do end end
end
function run() nest(50) end
