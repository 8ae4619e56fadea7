function run(context)
  local sum = everything.get_sum{a = 12, b = 30}
  if type(sum) ~= "string" then error(sum.error) end
  local echoed = everything.echo{message = sum}
  if type(echoed) ~= "string" then error(echoed.error) end
  return {echoed = echoed}
end
