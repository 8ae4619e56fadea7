-- Arrays in arrays, never closed.
-- expect: plan_error
function run() return json.decode(string.rep('{"a":[', 100000)) end
