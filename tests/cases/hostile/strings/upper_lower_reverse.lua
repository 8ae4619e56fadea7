-- Whole megabytes walked by one call each.
-- expect: limit_instructions
function run()
  local s = string.rep("aB", 1000000)
  while true do
    s:upper()
    s:lower()
    s:reverse()
  end
end
