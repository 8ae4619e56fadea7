-- result: [["a",1],["b",2]]
function run()
  local t = setmetatable({}, { __pairs = function()
    local keys, place = echo({ "a", "b" }), 0
    return function()
      place = place + 1
      if keys[place] then return keys[place], echo(place) end
    end
  end })
  local got = {}
  for k, v in pairs(t) do got[#got + 1] = { k, v } end
  return got
end
