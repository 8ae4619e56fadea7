-- stops: limit_instructions
local big = string.rep(" ", 1000000)
while true do text.trim(big) end
