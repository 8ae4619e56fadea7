-- error: value_key_unsupported `echo`
function run() echo({ 1, nil, 3, [100] = 4 }) end
