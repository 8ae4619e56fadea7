-- More upvalues than a function may have.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: engine_unsupported
function run()
  local t = { "function run()" }
  for f = 1, 2 do
    for i = 1, 150 do t[#t + 1] = "local l" .. f .. "_" .. i end
    t[#t + 1] = "local function f" .. f .. "()"
  end
  for f = 1, 2 do
    for i = 1, 150 do t[#t + 1] = "l" .. f .. "_" .. i .. "=1" end
  end
  return table.concat(t, " ") .. " end end end"
end
