-- error: value_key_unsupported `echo` has
function run() echo({ [1.5] = 1 }) end
