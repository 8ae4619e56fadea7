function run(context)
  local parts = {}
  for i = 1, 100000 do
    parts[i] = "piece " .. i
  end
  return #table.concat(parts, ",")
end
