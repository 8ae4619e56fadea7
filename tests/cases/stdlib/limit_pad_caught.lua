-- stops: limit_memory
pcall(text.pad_left, "x", 1 << 40)
error("went on")
