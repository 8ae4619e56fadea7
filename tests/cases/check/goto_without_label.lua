--! expect: plan_syntax 4:20 there is no label `continue` that this `goto` can see
function run(context)
  for i = 1, 3 do
    if i == 2 then goto continue end
    print(i)
  end
  return context
end
