-- Keys that are tables, booleans, floats, functions.
-- expect: value_key_unsupported
function run() return { [{}] = 1, [true] = 2, [1.5] = 3, [print] = 4 } end
