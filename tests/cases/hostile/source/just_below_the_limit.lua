-- Source of the very size allowed.
-- generates: source
-- expect: result: 1
-- expect on piccolo: limit_source
function run()
  local s = "function run() return 1 end --"
  return s .. string.rep("x", 65536 - #s)
end
