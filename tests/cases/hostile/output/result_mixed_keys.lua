-- List and names mixed.
-- expect: value_key_unsupported
function run() return { 1, 2, a = 3 } end
