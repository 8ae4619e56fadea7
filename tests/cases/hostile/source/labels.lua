-- Thousands of labels, and a goto to each.
-- generates: source
-- expect: result: 1
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run()
  local t = {}
  for i = 1, 2500 do t[i] = "goto l" .. i .. " ::l" .. i .. "::" end
  return "function run() " .. table.concat(t, " ") .. " do return 1 end end"
end
