-- As many results as there are characters.
-- expect: plan_error too many results
-- expect: plan_error string slice too long
-- expect: limit_memory|limit_instructions
function run() return select("#", utf8.codepoint(string.rep("é", 1000000), 1, -1)) end
