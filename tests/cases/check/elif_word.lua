--! expect: plan_syntax 5:3 `elif` is not a word of Lua
function run(context)
  if context.a then
    print(1)
  elif context.b then
    print(2)
  end
  return context
end
