-- error: plan_error {"status":4}
function run()
  error({ status = 4 })
end
