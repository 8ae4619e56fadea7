function run(context)
  local from, to = context.from, context.to
  if date.compare(from, to) > 0 then
    from, to = to, from
  end
  context.answer = list.count(date.range(from, to), function(day)
    local name = date.weekday_name(day)
    return name ~= "Saturday" and name ~= "Sunday"
  end)
  return context
end
