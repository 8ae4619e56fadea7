--! expect: plan_syntax 4:3 expected `}` to close table constructor, near `local`
function run(context)
  local t = { 1, 2, 3
  local u = 4
  return context
end
