--! expect: plan_syntax 4:5 expected `do` for the `for`
function run(context)
  for i = 1, 3
    local x = i
  end
  return context
end
