-- Arrays in arrays, as text.
-- expect: plan_error
-- expect: value_too_deep
function run() return json.decode(string.rep("[", 100000) .. string.rep("]", 100000)) end
