--! expect: plan_syntax 2:1 look at the `if` on line 4 and the `end` on line 6
function run(context)
  for i = 1, 3 do
    if i > 1 then
      print(i)
  end
  return context
end
