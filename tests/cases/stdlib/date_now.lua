-- The start of the run is the only clock.
equal(date.now(), "2026-11-24T23:30:05Z")
equal(date.now("+02:00"), "2026-11-25T01:30:05+02:00")
equal(date.now("Z"), "2026-11-24T23:30:05Z")
equal(date.today(), "2026-11-24")
equal(date.today("+02:00"), "2026-11-25")
equal(date.today("-05:00"), "2026-11-24")
equal(date.diff(date.add(date.today(), -90), date.today()), 90)
equal(date.compare(date.now(), date.now("+05:30")), 0)
for _, wrong in ipairs({ "Europe/Berlin", "", 2, {} }) do
  local ok, message = pcall(date.today, wrong)
  assert(not ok and tostring(message):find("offset", 1, true), tostring(message))
end
