-- error: value_key_unsupported a key that is not UTF-8 text
function run() echo({ ["\xFF"] = 1 }) end
