-- result: ["key",["new",1]]
function run()
  local kept
  local t = setmetatable({}, {
    __index = function(_, key) return echo(key) end,
    __newindex = function(_, key, value) kept = echo({ key, value }) end,
  })
  t.new = 1
  return { t.key, kept }
end
