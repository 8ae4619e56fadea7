function run(context)
  local day = date.parse(context.day)
  local rows = csv.parse(context.csv)
  local names = list.map(rows, function(row) return text.trim(row.name) end)
  context.median = stats.median(list.map(rows, function(row) return tonumber(row.age) end))
  context.out = json.encode({ names = names, missing = null, day = day })
  return context
end
