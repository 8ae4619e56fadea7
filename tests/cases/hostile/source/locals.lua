-- More locals than a function may have.
-- generates: source
-- expect: plan_syntax too many local variables
-- expect on piccolo: limit_source
function run()
  local t = {}
  for i = 1, 5000 do t[i] = "local l" .. i end
  return "function run() " .. table.concat(t, " ") .. " end"
end
