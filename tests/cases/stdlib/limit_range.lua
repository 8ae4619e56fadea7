-- stops: limit_instructions
list.range(1, math.maxinteger, math.maxinteger // 1000000000)
list.range(1, 1000000000)
