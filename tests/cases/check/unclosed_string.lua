--! expect: plan_syntax 3:13 this string is not closed on its line
function run(context)
  local s = "it never ends
  print(s)
  return context
end
