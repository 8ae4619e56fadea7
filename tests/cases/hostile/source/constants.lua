-- Tens of thousands of different constants.
-- generates: source
-- expect: result: 9000
-- expect on piccolo: limit_source
function run()
  local t = {}
  for i = 1, 9000 do t[i] = i .. ".5" end
  return "function run() return #{" .. table.concat(t, ",") .. "} end"
end
