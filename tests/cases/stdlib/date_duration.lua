equal(date.duration("P1DT2H3.5S"), 93603.5)
equal(date.duration("PT1H"), 3600)
equal(date.duration("P2W"), 1209600)
equal(date.duration("PT0S"), 0)
equal(date.duration("PT0.1S"), 0.1)
equal(date.duration("PT1,5H"), 5400)
equal(date.duration(" PT5M "), 300)
-- As PostgreSQL writes it: each part has its own sign.
equal(date.duration("P-1DT-1S"), -86401)
equal(date.duration("P1DT-1H"), 82800)
equal(date.duration("PT-0.000001S"), -0.000001)
equal(date.duration("-P1DT1S"), -86401)
-- As MariaDB writes it.
equal(date.duration("-30:00:00.5"), -108000.5)
equal(date.duration("838:59:59.999999"), 3020399.999999)
equal(date.duration("00:00:00"), 0)
equal(date.duration("10:00:05"), 36005)

equal(date.duration("P1M", { days_per_month = 30 }), 2592000)
equal(date.duration("P1Y2M", { days_per_month = 30, days_per_year = 365 }), 36720000)
equal(date.duration("P1Y", { days_per_year = 365.25 }), 31557600)
fails('date.duration: "P1Y2M3D" has years, which have no fixed length: say how many days one has, as with {days_per_year = 365}',
  date.duration, "P1Y2M3D")
fails('"P2M" has months, which have no fixed length: say how many days one has, as with {days_per_month = 30}',
  date.duration, "P2M", { days_per_year = 365 })
fails("days_per_month must be a number, got string", date.duration, "P1M", { days_per_month = "many" })
fails("days_per_month must be from 0 to 1000, got -1", date.duration, "P1M", { days_per_month = -1 })
fails("unknown option days_per_week", date.duration, "P1M", { days_per_week = 7 })
for _, text in ipairs({ "", "P", "PT", "P1", "1D", "P1DT", "PT1S1M", "P1.5DT1H", "P1S", "PT1D", "PT1S1S", "PTT1S", "P--1D", "P1é",
  "10:00", "10:60:00", "10:00:60", "10:0:00", "10:00:00:00", "1.5:00:00", "10:-1:00", "one day", "PT0.1234567891S" }) do
  fails(" is not a duration, which is like P1DT2H3.5S or 26:00:03.5", date.duration, text)
end
fails("is too long", date.duration, "P999999999999999D")
fails("date.duration: argument 1 (text) must be text, got nil", date.duration)

equal(date.iso_duration(93603.5), "P1DT2H3.5S")
equal(date.iso_duration(-86401), "P-1DT-1S")
equal(date.iso_duration(-0.5), "PT-0.5S")
equal(date.iso_duration(0), "PT0S")
equal(date.iso_duration(0.1), "PT0.1S")
equal(date.iso_duration(60.25), "PT1M0.25S")
equal(date.iso_duration(1e-12), "PT0S")
equal(date.iso_duration(3020399.999999), "P34DT22H59M59.999999S")
equal(date.iso_duration("3600"), "PT1H")
fails("date.iso_duration: argument 1 (seconds) must be between -2^53 and 2^53, got", date.iso_duration, 1e300)
fails("must be between -2^53 and 2^53, got NaN", date.iso_duration, 0 / 0)
for _, seconds in ipairs({ 1, -1, 86400, 3661.000001, -7200.75, 2 ^ 40 }) do
  equal(date.duration(date.iso_duration(seconds)) == seconds, true)
end
