-- error: value_not_carried `echo` is a function
function run() echo(echo) end
