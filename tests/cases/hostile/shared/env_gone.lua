-- No environment at all.
-- expect: plan_error
function run()
  local _ENV = nil
  return x
end
