--! expect: plan_syntax 4:26 this `break` is in no loop
function run(context)
  for i = 1, 3 do
    local f = function() break end
    f()
  end
  return context
end
