-- A chain of two thousand `__index`, each table with keys that share one place: one instruction goes past all of them.
-- expect: limit_instructions|limit_wall
-- expect on piccolo: limit_instructions|limit_wall|limit_memory
function run()
  local step = (1 << 8) - 1
  local t = nil
  for i = 1, 1900 do
    local n = {}
    for k = 1, 129 do n[k * step] = true end
    t = setmetatable(n, { __index = t })
  end
  local absent = 1000000 * step
  local x
  while true do
    x = t[absent] x = t[absent] x = t[absent] x = t[absent] x = t[absent]
    x = t[absent] x = t[absent] x = t[absent] x = t[absent] x = t[absent]
  end
end
