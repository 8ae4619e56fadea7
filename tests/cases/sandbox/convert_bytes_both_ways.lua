-- result: [true,{"$bytes":"//4A"}]
function run()
  local bytes = echo("\xFF\xFE\0")
  return { bytes == "\xFF\xFE\0", bytes }
end
