-- stops: limit_instructions
date.range("0001-01-01 00:00", "9999-12-31 00:00", 1, "second")
