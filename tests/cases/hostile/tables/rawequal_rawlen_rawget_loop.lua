-- The raw functions, without metamethods, without end.
-- expect: limit_instructions
function run()
  local t = {}
  while true do
    rawset(t, 1, rawget(t, 1))
    rawequal(t, t)
    rawlen(t)
  end
end
