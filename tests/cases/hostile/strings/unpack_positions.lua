-- Positions and lengths that point out of the text.
-- expect: result: "refused"
function run()
  local cases = {
    { "s8", "\255\255\255\255\255\255\255\127x" }, { "s4", "\255\255\255\255x" }, { "z", "no end" },
    { "i4", "abc" }, { "c10", "x" }, { "i4", "abcd", 100 }, { "i4", "abcd", -3 }, { "i4", "abcd", math.maxinteger },
    { "i16", string.rep("\255", 15) .. "\1" }, { "s8", "\0\0\0\0\0\0\0\128" }, { "j", "1234567" }, { "i4", "abcd", 2 },
  }
  for i, case in ipairs(cases) do assert(not pcall(string.unpack, table.unpack(case)), "case " .. i) end
  return "refused"
end
