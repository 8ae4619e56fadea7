-- result: [[1], "x", false, 0, {"a": 1}]
function run()
  return { must(echo({ 1 }), "a list"), must("x"), must(false, "a truth"), must(0), must(echo({ a = 1 })) }
end
