-- Ranges whose size or end overflows.
-- expect: result: [false,false,false]
function run()
  return {
    (pcall(table.move, {}, math.mininteger, math.maxinteger, 1)), (pcall(table.move, {}, 0, math.maxinteger, 2)),
    (pcall(table.move, {}, 1, math.maxinteger - 1, 3)),
  }
end
