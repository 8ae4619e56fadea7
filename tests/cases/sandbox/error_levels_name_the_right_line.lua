-- result: ["plan.lua:4: one","plan.lua:8: two","zero"]
-- the second is blamed on its caller
function run()
  local function one() error("one") end
  local function two() error("two", 2) end
  local function zero() error("zero", 0) end
  local _, a = pcall(one)
  local _, b = pcall(function() two() return 1 end)
  local _, c = pcall(zero)
  return { a, b, c }
end
-- engine: mlua (on the second engine `error` knows the line of level 1 alone)
