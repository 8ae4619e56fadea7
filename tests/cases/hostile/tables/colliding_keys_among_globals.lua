-- The table of globals grows when a new global is set, full of integers that share a place.
-- expect: limit_instructions share places
-- expect on piccolo: limit_instructions
-- expect on piccolo: result: "grown"
-- limits: memory=64MiB
function run()
  local step, size = (1 << 17) - 1, 1 << 16
  local names = 0
  for _ in pairs(_G) do names = names + 1 end
  for i = 1, size - names - 4096 do _G[i * step] = true end
  for i = 1, 100000 do
    _ENV["name" .. i] = i
  end
  return "grown"
end
