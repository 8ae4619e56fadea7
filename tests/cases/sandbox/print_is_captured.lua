-- printed: a	1	nil	table: 1|b
-- result: {}
function run(context)
  print("a", 1, nil, {})
  print("b")
end
