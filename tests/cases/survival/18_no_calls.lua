-- Nothing but computing.
function run(context)
  local sum = 0
  for i = 1, 1000 do sum = sum + i end
  return { sum = sum }
end
