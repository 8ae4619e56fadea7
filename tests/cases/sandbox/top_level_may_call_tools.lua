-- result: 5
local five = echo(5)
function run() return five end
