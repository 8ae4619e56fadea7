--! expect: plan_syntax 3:24 the `(`
function run(context)
  local t = { 1, (2 + 3}, 4 }
  return context
end
