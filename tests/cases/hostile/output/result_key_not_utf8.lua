-- A key that is no text.
-- expect: value_key_unsupported
function run() return { ["\xFF"] = 1 } end
