-- One key a hundred thousand times.
-- expect: limit_instructions|limit_memory|plan_error
-- expect: result: 1
function run()
  local t = json.decode("{" .. string.rep('"a":1,', 100000) .. '"a":1}')
  return t.a
end
