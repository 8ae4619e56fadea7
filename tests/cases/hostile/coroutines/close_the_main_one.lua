-- The main coroutine is closed from inside.
-- expect: plan_error cannot close
function run() coroutine.close(coroutine.running()) end
