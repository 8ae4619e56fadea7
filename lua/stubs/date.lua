---@meta
-- Dates are ISO 8601 text; there is no clock but the start of the run.
date = {}

---@alias DateUnit "years"|"quarters"|"months"|"weeks"|"days"|"hours"|"minutes"|"seconds"|"milliseconds"
---@alias DateStep integer|DateUnit|table<DateUnit, integer>

---When the run started, in UTC or at an offset such as "+02:00"; the same at every call.
---@param offset? string
---@return string iso
function date.now(offset) end

---The day on which the run started.
---@param offset? string
---@return string iso
function date.today(offset) end

---Reads a date and gives it as ISO text; with a format such as "%d.%m.%Y" reads by it. Raises where it is no date.
---@param text string
---@param format? string
---@return string iso
function date.parse(text, format) end

---Whether date.parse would read it.
---@param text any
---@param format? string
---@return boolean
function date.valid(text, format) end

---Writes by a format: %Y %m %d %H %M %S %A %a %B %b %j %V %p %I %z.
---@param iso string
---@param format string
---@return string
function date.format(iso, format) end

---Moves a date: date.add(d, {months = 1, days = -2}), date.add(d, 3, "weeks"). A month's end stays inside the month.
---@param iso string
---@param amount DateStep
---@param unit? DateUnit for a number; days without it
---@return string iso
function date.add(iso, amount, unit) end

---Whole units from one date to another; negative where `to` is earlier.
---@param from string
---@param to string
---@param unit? DateUnit days without it
---@return integer
function date.diff(from, to, unit) end

---Which is earlier: -1, 0 or 1. A text without offset counts as UTC.
---@param a string
---@param b string
---@return integer
function date.compare(a, b) end

---The first day or instant of the year, quarter, month, week (Monday), day, hour …
---@param iso string
---@param unit DateUnit
---@return string iso
function date.start_of(iso, unit) end

---The last day or instant of it.
---@param iso string
---@param unit DateUnit
---@return string iso
function date.end_of(iso, unit) end

---Every date from one to another, both included, by a step (1 day without it).
---@param from string
---@param to string
---@param step? DateStep
---@param unit? DateUnit for a number as step
---@return string[]
function date.range(from, to, step, unit) end

---The parts of a date; the time's only where it has one.
---@param iso string
---@return {year: integer, month: integer, day: integer, quarter: integer, weekday: integer, yearday: integer, week: integer, week_year: integer, hour?: integer, min?: integer, sec?: integer, nanosecond?: integer, offset_minutes?: integer}
function date.parts(iso) end

---ISO text from parts.
---@param parts {year: integer, month?: integer, day?: integer, hour?: integer, min?: integer, sec?: integer, offset?: string}
---@return string iso
function date.make(parts) end

---1 for Monday to 7 for Sunday.
---@param iso string
---@return integer
function date.weekday(iso) end

---"Monday" to "Sunday".
---@param iso string
---@return string
function date.weekday_name(iso) end

---"January" to "December".
---@param iso string
---@return string
function date.month_name(iso) end

---The ISO week, 1 to 53.
---@param iso string
---@return integer
function date.week(iso) end

---The year the ISO week belongs to.
---@param iso string
---@return integer
function date.week_year(iso) end

---Days of the month, by a date or by year and month.
---@param iso string|integer
---@param month? integer
---@return integer
function date.days_in_month(iso, month) end

---Whether the year, or the year of the date, is a leap year.
---@param year string|integer
---@return boolean
function date.is_leap_year(year) end

---Seconds since 1970-01-01T00:00:00Z.
---@param iso string
---@return integer
function date.unix(iso) end

---ISO text from seconds since 1970-01-01T00:00:00Z.
---@param seconds number
---@param offset? string "+02:00"; "Z" without it
---@return string iso
function date.from_unix(seconds, offset) end

---The same instant with offset Z.
---@param iso string
---@return string iso
function date.to_utc(iso) end

---Seconds of a duration: "P1DT2H3.5S" or "26:00:03.5". Months and years need their length.
---@param text string
---@param options? {days_per_month?: number, days_per_year?: number}
---@return number seconds
function date.duration(text, options) end

---"P1DT2H3.5S" from seconds; a day is 24 hours.
---@param seconds number
---@return string
function date.iso_duration(seconds) end
