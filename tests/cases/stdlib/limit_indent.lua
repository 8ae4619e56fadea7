-- stops: limit_memory
text.indent("x", 1 << 50)
