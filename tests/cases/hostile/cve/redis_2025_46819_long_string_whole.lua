-- CVE-2025-46819: the same with a delimiter that is closed.
-- generates: source
-- expect: result: "x"
-- expect on piccolo: limit_source
function run()
  local level = string.rep("=", 32000)
  return "function run() return [" .. level .. "[x]" .. level .. "] end"
end
