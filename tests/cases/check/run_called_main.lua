--! expect: plan_no_run 2:10 rename `main` to `run`
function main(context)
  return context
end
