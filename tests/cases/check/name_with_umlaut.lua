--! expect: plan_syntax 3:9 `größe` is not a Lua name
function run(context)
  local größe = 1
  return context
end
