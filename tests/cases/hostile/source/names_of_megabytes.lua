-- A name as long as the source, used as a global and as a field.
-- generates: source
-- expect: result: 1
-- expect on piccolo: limit_source
function run()
  local n = string.rep("n", 20000)
  return n .. " = {} " .. n .. ".x = 1 function run() return " .. n .. ".x end"
end
