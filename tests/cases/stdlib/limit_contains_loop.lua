-- stops: limit_instructions
local big = string.rep("a", 1000000)
local part = string.rep("a", 1000) .. "b"
while true do text.contains(big, part) end
