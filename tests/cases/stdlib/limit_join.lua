-- stops: limit_memory
local big = string.rep("x", 100000)
local parts = {}
for i = 1, 100 do parts[i] = big end
equal(#text.join(parts, ","), 10000099)
local most = {}
for i = 1, 700 do most[i] = big end
text.join(most)
