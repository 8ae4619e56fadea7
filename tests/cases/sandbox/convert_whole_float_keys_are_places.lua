-- result: ["a","b"]
function run() return echo({ [1.0] = "a", [2.0] = "b" }) end
