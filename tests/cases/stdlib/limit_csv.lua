-- stops: limit_instructions
local big = string.rep("a,b,c\n", 10000)
while true do csv.parse(big) end
