-- error: plan_error line 3: no users
function run()
  error({ message = "no users", status = 4 })
end
