-- stops: limit_instructions
local big = string.rep("%Y", 100000)
while true do date.format("2026-01-01", big) end
