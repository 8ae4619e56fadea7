function run(context)
  local folder = "FOLDER/inbox"
  local listing = files.list_directory{path = folder}
  if listing.error then error(listing.error) end
  local renamed = {}
  for name in listing.content:gmatch("%[FILE%] (%S+)%.tmp") do
    local moved = files.move_file{source = folder .. "/" .. name .. ".tmp", destination = folder .. "/" .. name .. ".txt"}
    if moved.error then error(moved.error) end
    renamed[#renamed + 1] = name .. ".txt"
  end
  return {renamed = renamed}
end
