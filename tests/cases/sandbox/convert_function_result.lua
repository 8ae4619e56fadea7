-- error: value_not_carried `result.users[2].f` is a function
function run() return { users = { 1, { f = print } } } end
