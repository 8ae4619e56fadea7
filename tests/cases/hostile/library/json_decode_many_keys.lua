-- An object of many different keys, decoded again and again: the shape of each is remembered.
-- expect: limit_instructions|limit_memory
function run()
  local i = 0
  while true do
    i = i + 1
    json.decode('{"a' .. i .. '":1,"b' .. i .. '":{"c' .. i .. '":null}}')
  end
end
