--! expect: plan_no_run 1:1 rename `main` to `run`
function main(context)
  return context
end
