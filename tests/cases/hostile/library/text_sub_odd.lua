-- Positions beyond all bounds.
-- expect: result: "ended"
function run()
  for _, i in ipairs({ math.mininteger, math.maxinteger, -1, 0, 1.5, 0 / 0, 1e308 }) do
    for _, j in ipairs({ math.mininteger, math.maxinteger, -1, 0, 1.5 }) do pcall(text.sub, "añb", i, j) pcall(text.truncate, "añb", i, "…") end
  end
  return "ended"
end
