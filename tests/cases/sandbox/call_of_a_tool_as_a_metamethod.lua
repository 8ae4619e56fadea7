-- result: ["key"]
function run()
  local t = setmetatable({}, { __index = function(_, k) return server.echo(k) end, __call = echo })
  local got = t()
  assert(type(got) == "table")
  return { t.key }
end
