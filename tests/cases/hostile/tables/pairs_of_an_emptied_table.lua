-- A huge table emptied but not shrunk: each pairs walks its empty slots, which counts as one step, so time may come first.
-- expect: limit_instructions|limit_memory|limit_wall
function run()
  local t = {}
  for i = 1, 100000 do t["k" .. i] = true end
  for i = 1, 100000 do t["k" .. i] = nil end
  while true do
    for k in pairs(t) do end
    local x = next(t)
  end
end
