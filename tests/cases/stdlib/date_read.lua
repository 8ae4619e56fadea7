-- What is read, and how it comes back.
local forms = {
  ["2026-11-21"] = "2026-11-21",
  [" 2026-11-21 "] = "2026-11-21",
  ["2026-11-21 10:00"] = "2026-11-21 10:00:00",
  ["2026-11-21 10:00:05"] = "2026-11-21 10:00:05",
  ["2026-11-21T10:00:05.120"] = "2026-11-21T10:00:05.120",
  ["2026-11-21T10:00:05,5"] = "2026-11-21T10:00:05.5",
  ["2026-11-21T10:00:05.1234567891"] = "2026-11-21T10:00:05.123456789",
  ["2026-11-21t10:00:05z"] = "2026-11-21T10:00:05Z",
  ["2026-11-21 10:00:05+00"] = "2026-11-21 10:00:05+00:00",
  ["2026-11-21 10:00:05.25-0330"] = "2026-11-21 10:00:05.25-03:30",
  ["2026-11-21 10:00:05 UTC"] = "2026-11-21 10:00:05Z",
  ["2026-11-21T10:00+14:00"] = "2026-11-21T10:00:00+14:00",
  ["2024-02-29"] = "2024-02-29",
  ["2000-02-29"] = "2000-02-29",
  ["0001-01-01"] = "0001-01-01",
  ["9999-12-31T23:59:59"] = "9999-12-31T23:59:59",
  ["Sat, 21 Nov 2026 10:00:00 +0100"] = "2026-11-21T10:00:00+01:00",
}
for given, wanted in pairs(forms) do
  equal(date.parse(given), wanted)
  assert(date.valid(given), given)
end

local faults = {
  ["2026-13-01"] = "there is no month 13",
  ["2026-00-01"] = "there is no month 0",
  ["2026-02-29"] = "2026-02 has no day 29",
  ["1900-02-29"] = "1900-02 has no day 29",
  ["2026-04-31"] = "has no day 31",
  ["2026-04-00"] = "has no day 0",
  ["0000-01-01"] = "has no day 1",
  ["26-04-01"] = "four-digit year",
  ["2026/04/01"] = "a dash wanted after the year",
  ["2026-4-1"] = "a two-digit month",
  ["20260401"] = "a dash wanted after the year",
  ["2026-04-01x"] = "T or a space",
  ["2026-04-01T"] = "the time must be like",
  ["2026-04-01T24:00"] = "there is no time 24:00:00",
  ["2026-04-01T10:60"] = "there is no time 10:60:00",
  ["2026-04-01T10:00:60"] = "there is no time 10:00:60",
  ["2026-04-01T10:00:00."] = "the time must be like",
  ["2026-04-01T10:00:00+25:00"] = "an offset must be",
  ["2026-04-01T10:00:00 CET"] = "an offset must be",
  ["2026-04-01T10:00:00+1"] = "an offset must be",
  [""] = '"" is not a date',
  ["tomorrow"] = '"tomorrow" is not a date',
}
for given, wanted in pairs(faults) do
  fails(wanted, date.parse, given)
  assert(not date.valid(given), given)
end
fails("date.parse: argument 1 (text) must be text, got nil", date.parse)
fails("date.parse: argument 1 (text) must be text, got table", date.parse, {})
fails("\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"…", date.parse, string.rep("a", 5000))
assert(not date.valid(nil) and not date.valid(20261121) and not date.valid({}))

-- By a format.
equal(date.parse("21.11.2026", "%d.%m.%Y"), "2026-11-21")
equal(date.parse("11/21/26", "%m/%d/%y"), "2026-11-21")
equal(date.parse("Nov 21, 2026 3:05 PM", "%b %d, %Y %I:%M %p"), "2026-11-21T15:05:00")
equal(date.parse("20261121", "%Y%m%d"), "2026-11-21")
equal(date.parse("2026-11-21 10:00 +0200", "%Y-%m-%d %H:%M %z"), "2026-11-21T10:00:00+02:00")
assert(date.valid("21.11.2026", "%d.%m.%Y") and not date.valid("2026-11-21", "%d.%m.%Y"))
fails("date.parse: \"x\" cannot be read as \"%d.%m.%Y\"", date.parse, "x", "%d.%m.%Y")
fails("cannot be read as", date.parse, "11", "%m")
fails("cannot be read as", date.parse, "x", "%")

-- To a format.
equal(date.format("2026-11-21", "%d.%m.%Y"), "21.11.2026")
equal(date.format("2026-11-21 09:05:07", "%A %e %B %Y, %H:%M:%S"), "Saturday 21 November 2026, 09:05:07")
equal(date.format("2026-11-21T15:05:00+02:00", "%I:%M %p %z"), "03:05 PM +0200")
equal(date.format("2026-01-01", "%G-W%V-%u, day %j"), "2026-W01-4, day 001")
equal(date.format("2026-01-01", "100%%"), "100%")
equal(date.format("2026-01-01", ""), "")
fails("date.format: argument 2 (format) must be text, got nil", date.format, "2026-01-01")
fails("date.format: cannot write as \"%Z\"", date.format, "2026-01-01", "%Z")
fails("date.format: cannot write as", date.format, "2026-01-01", "%")
