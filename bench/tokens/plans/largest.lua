function run(context)
  local found = {}
  for _, folder in ipairs({"FOLDER/inbox", "FOLDER/notes"}) do
    local listing = files.list_directory{path = folder}
    if listing.error then error(listing.error) end
    for name in listing.content:gmatch("%[FILE%] (%S+)") do
      local info = files.get_file_info{path = folder .. "/" .. name}
      if info.error then error(info.error) end
      found[#found + 1] = {name = name, bytes = tonumber(info.content:match("size: (%d+)"))}
    end
  end
  table.sort(found, function(a, b) return a.bytes > b.bytes end)
  return {largest = {found[1], found[2], found[3]}}
end
