-- Thousands of gotos whose label comes at the end of many blocks.
-- generates: source
-- expect: result: 1
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run()
  return "function run() local x " .. string.rep("if x then goto l end ", 2800) .. " ::l:: return 1 end"
end
