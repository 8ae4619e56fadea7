-- result: 4
function run() return echo(echo(1) + echo(echo(3))) end
