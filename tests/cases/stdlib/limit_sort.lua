-- stops: limit_instructions
local items = list.range(20000)
while true do items = list.sort(items, "desc") end
