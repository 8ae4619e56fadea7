function run(context)
  local folder = "FOLDER"
  local listing = files.list_directory{path = folder .. "/notes"}
  if listing.error then error(listing.error) end
  local names = {}
  for name in listing.content:gmatch("%[FILE%] (%S+)") do names[#names + 1] = name end
  local counts, total = {}, 0
  for _, name in ipairs(names) do
    local note = files.read_text_file{path = folder .. "/notes/" .. name}
    if note.error then error(note.error) end
    local count = 0
    for line in note.content:gmatch("[^\n]+") do
      if line:sub(1, 4) == "TODO" then count = count + 1 end
    end
    counts[#counts + 1] = {name = name, count = count}
    total = total + count
  end
  table.sort(counts, function(a, b) return a.count > b.count end)
  local lines = {}
  for i, one in ipairs(counts) do lines[i] = "- " .. one.name .. ": " .. one.count end
  local wrote = files.write_file{path = folder .. "/todos.md", content = table.concat(lines, "\n") .. "\n"}
  if wrote.error then error(wrote.error) end
  return {total = total}
end
