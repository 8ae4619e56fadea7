--! expect: plan_unknown_tool 7:3 `fetcher` is called, but is neither a tool nor defined in the plan
function run(context)
  if context.x then
    local fetcher = print
    fetcher(1)
  end
  fetcher(2)
  return context
end
