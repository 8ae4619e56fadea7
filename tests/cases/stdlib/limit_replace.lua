-- stops: limit_memory
text.replace(string.rep("a", 1000000), "a", string.rep("b", 1000000))
