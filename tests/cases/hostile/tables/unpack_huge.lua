-- Results beyond any stack.
-- expect: result: [false,false,false]
function run()
  return {
    (pcall(table.unpack, {}, 1, 1e9)), (pcall(table.unpack, {}, math.mininteger, math.maxinteger)),
    (pcall(table.unpack, {}, 0, math.maxinteger)),
  }
end
