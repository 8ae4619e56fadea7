-- Chunks of nothing.
-- expect: result: "ended"
function run()
  for _, n in ipairs({ 0, -1, 1.5, 0 / 0, math.maxinteger, math.mininteger }) do
    pcall(list.chunk, { 1, 2, 3 }, n)
    pcall(list.take, { 1, 2, 3 }, n)
    pcall(list.drop, { 1, 2, 3 }, n)
    pcall(list.slice, { 1, 2, 3 }, n, n)
  end
  return "ended"
end
