-- Widths and fills that make no sense.
-- expect: result: "ended"
-- expect: limit_memory
function run()
  for _, w in ipairs({ -1, 0, 1.5, math.mininteger, 0 / 0, "9", {} }) do
    for _, fill in ipairs({ "", "é", "\xFF", "\0", 1, {} }) do pcall(text.pad_left, "x", w, fill) pcall(text.pad_right, "x", w, fill) end
  end
  return "ended"
end
