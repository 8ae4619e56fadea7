-- Counts below zero.
-- expect: result: ["",""]
function run() return { string.rep("x", -1), string.rep("x", math.mininteger) } end
