-- Integers that share no places until the table grows, when they all have the same: moving them would take hours.
-- expect: limit_instructions share places
-- expect on piccolo: limit_instructions
-- expect on piccolo: result: "grown"
-- limits: memory=64MiB
function run()
  local t = {}
  for i = 1, (1 << 19) + 1 do t[i * ((1 << 20) - 1)] = i end
  return "grown"
end
