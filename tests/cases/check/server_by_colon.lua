--! expect: plan_bad_argument 3:15 `desk.search` is called with a colon
function run(context)
  context.a = desk:search("x")
  return context
end
