--! expect: plan_syntax 3:21 expected `}` to close table constructor, near `b`
function run(context)
  local t = { a = 1 b = 2 }
  return context
end
