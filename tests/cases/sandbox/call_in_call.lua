-- result: "called"
function run()
  return setmetatable({}, { __call = function(_, x) return echo(x) end })("called")
end
