-- result: [true,false,true,false,true]
function run()
  local mt = {}
  for _, event in ipairs({ "__eq", "__lt", "__le" }) do
    mt[event] = function() return echo(true) end
  end
  local a, b = setmetatable({}, mt), setmetatable({}, mt)
  return { a == b, a ~= b, a < b, not (a <= b), a >= b }
end
