-- A runtime error that names a very long variable.
-- generates: source
-- expect: plan_error
function run()
  local n = string.rep("n", 30000)
  return "function run() local " .. n .. " = nil return " .. n .. ".x end"
end
