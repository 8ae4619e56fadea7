-- result: ["a","b"]
function run()
  local t = {}
  for word in string.gmatch("a b", "%w") do t[#t + 1] = echo(word) end
  return t
end
