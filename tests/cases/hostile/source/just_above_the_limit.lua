-- One byte more than allowed.
-- generates: source
-- expect: limit_source
function run()
  local s = "function run() return 1 end --"
  return s .. string.rep("x", 65537 - #s)
end
