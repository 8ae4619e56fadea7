--! expect: plan_syntax 4:20 write `goto continue` and put `::continue::`
function run(context)
  for i = 1, 3 do
    if i == 2 then continue end
    print(i)
  end
  return context
end
