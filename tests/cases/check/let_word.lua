--! expect: plan_syntax 3:3 `let` is not a word of Lua
function run(context)
  let n = 0
  return context
end
