-- error: plan_error line 4: attempt to index a nil value (local 'user')
function run()
  local user = nil
  return user.name
end
