-- stops: limit_memory
local big = string.rep("\"", 11000000)
text.escape_html(big)
