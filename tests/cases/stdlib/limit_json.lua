-- stops: limit_instructions
local big = "[" .. string.rep("[],", 10000) .. "1]"
while true do json.decode(big) end
