-- stops: limit_memory
text.pad_left("x", 1 << 40)
