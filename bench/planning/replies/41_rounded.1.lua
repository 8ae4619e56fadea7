function run(context)
  local summary = stats.summary(context.amounts)
  if summary.count == 0 then
    error("there are no amounts")
  end
  context.answer = {
    mean = math.round(summary.mean, 2),
    median = math.round(summary.median, 2),
    total = math.round(summary.sum, 2),
  }
  return context
end
