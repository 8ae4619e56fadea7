-- result: [1,2,3]
function run()
  local got, n = {}, 0
  for x in function() n = n + 1 return n < 4 and echo(n) or nil end do got[#got + 1] = x end
  return got
end
