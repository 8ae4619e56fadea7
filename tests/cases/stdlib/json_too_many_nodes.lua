-- Two bytes of text a node: refused by the count, not by the host's memory.
fails("json.decode: not valid JSON: more than 1000000 nodes", json.decode, "[" .. string.rep("1,", 1100000) .. "1]")
