-- Texts that are nearly dates, amounts beyond all calendars.
-- expect: result: "ended"
function run()
  for _, s in ipairs({ "", "2026-02-30", "2026-13-01", "99999-01-01", "-0001-01-01", string.rep("2", 100000), "2026-01-01T25:61:61Z", "2026-01-01T00:00:00+99:99", "\0", "２０２６-01-01" }) do
    for name, f in pairs(date) do
      pcall(f, s)
      pcall(f, s, s)
      pcall(f, s, math.maxinteger, "years")
      pcall(f, s, math.mininteger, "seconds")
      pcall(f, math.huge)
      pcall(f, 0 / 0)
    end
  end
  return "ended"
end
