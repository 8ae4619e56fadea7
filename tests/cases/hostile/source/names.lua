-- Thousands of different names.
-- generates: source
-- expect: result: 1
function run()
  local t = {}
  for i = 1, 5000 do t[i] = "g" .. i .. "=1" end
  return table.concat(t, " ") .. " function run() return g1 end"
end
