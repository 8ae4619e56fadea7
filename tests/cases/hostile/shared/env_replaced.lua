-- The environment of the chunk is replaced.
-- expect: result: 5
local old = _ENV
local function f()
  local _ENV = { x = 5 }
  return x
end
function run() return f() end
