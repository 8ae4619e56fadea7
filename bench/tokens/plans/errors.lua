function run(context)
  local log = files.read_text_file{path = "FOLDER/app.log"}
  if log.error then error(log.error) end
  local counts, kinds = {}, {}
  for kind in log.content:gmatch("ERROR ([^\n]+)") do
    if not counts[kind] then
      counts[kind] = 0
      kinds[#kinds + 1] = kind
    end
    counts[kind] = counts[kind] + 1
  end
  table.sort(kinds, function(a, b) return counts[a] > counts[b] end)
  local most = {}
  for i = 1, math.min(3, #kinds) do most[i] = {error = kinds[i], count = counts[kinds[i]]} end
  return {most = most}
end
