function run(context)
  local name = (context.name or ""):lower():gsub("%s+", "-"):sub(1, 20)
  context.slug = ("%s-%d"):format(name, #name)
  return context
end
