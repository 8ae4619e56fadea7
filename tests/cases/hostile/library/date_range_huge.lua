-- A range of days between the ends of the calendar.
-- expect: limit_instructions|limit_memory|plan_error
function run() return #date.range("0001-01-01", "9999-12-31", 1, "seconds") end
