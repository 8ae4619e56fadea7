-- A runtime error that names a very long variable.
-- generates: source
-- expect: plan_error
-- expect on piccolo: limit_source
function run()
  local n = string.rep("n", 30000)
  return "function run() local " .. n .. " = nil return " .. n .. ".x end"
end
