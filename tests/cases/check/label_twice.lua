--! expect: plan_syntax 5:5 the label `again` is already there
function run(context)
  ::again::
  do
    ::again::
  end
  return context
end
