-- A list whose last index is huge.
-- expect: value_key_unsupported
function run() return { 1, 2, [1 << 40] = 3 } end
