function run(context)
  local n = context.n or 17
  context.half = n // 2
  context.rest = n % 5
  context.power = 2 ^ 10
  context.bits = (n & 0xff) | (1 << 4) ~ 3
  context.inverted = ~n >> 1
  context.rounded = math.round(7 / 3)
  return context
end
