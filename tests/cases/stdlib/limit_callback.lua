-- stops: limit_instructions
list.map(list.range(10), function() while true do end end)
