-- The last index is the largest integer: a counter that passes it never ends.
-- expect: result: "ab"
function run() return table.concat({ [math.maxinteger] = "b", [math.maxinteger - 1] = "a" }, "", math.maxinteger - 1, math.maxinteger) end
