-- What has no JSON form.
-- expect: value_not_carried
function run() return { a = { b = { print } } } end
