-- A width and precision of many digits must be refused.
-- expect: result: [false,false,false,false]
function run()
  return {
    (pcall(string.format, "%999999999d", 1)), (pcall(string.format, "%.999999999f", 1)),
    (pcall(string.format, "%" .. string.rep("0", 100) .. "d", 1)), (pcall(string.format, "%100s", "x")),
  }
end
