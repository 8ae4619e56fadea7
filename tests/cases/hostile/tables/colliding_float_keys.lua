-- Floats that differ in their last bits alone have the same place always.
-- expect: limit_instructions|limit_wall
-- expect on piccolo: limit_instructions|limit_wall|limit_memory
function run()
  local t = {}
  for i = 1, 1 << 20 do t[1 + i * 2.0 ^ -52] = i end
  return "grown"
end
