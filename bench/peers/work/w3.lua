function run(context)
  local sum = 0
  for i = 1, context.calls do
    local got = noop({ n = i })
    sum = sum + got.n
  end
  return sum
end
