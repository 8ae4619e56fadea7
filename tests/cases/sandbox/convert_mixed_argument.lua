-- error: value_key_unsupported `echo` has both a list and the key `x`
function run() echo({ 1, 2, x = 3 }) end
