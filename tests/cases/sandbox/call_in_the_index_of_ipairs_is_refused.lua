-- error: call_not_possible_here line 5: `echo` was called where the plan cannot pause
function run()
  local words = { "one", "two" }
  local got = {}
  for _, v in ipairs(setmetatable({}, { __index = function(_, i) return words[i] and echo(words[i]) end })) do
    got[#got + 1] = v
  end
  return got
end
-- engine: mlua (on the second engine a call is possible there)
