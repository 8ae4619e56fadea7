-- Formats without end, and formats that match slowly.
-- expect: limit_instructions|plan_error
function run()
  local f, s = string.rep("%Y", 100000), string.rep("2026", 100000)
  while true do
    pcall(date.parse, s, f)
    pcall(date.format, "2026-01-01", f)
  end
end
