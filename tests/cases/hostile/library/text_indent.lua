-- Half a million lines, each with a prefix of its own size.
-- expect: limit_memory|limit_instructions
function run() return #text.indent(string.rep("x\n", 100000), string.rep(" ", 1000)) end
