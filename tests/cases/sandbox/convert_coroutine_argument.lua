-- error: value_not_carried `echo` is a thread
function run() echo(coroutine.create(print)) end
