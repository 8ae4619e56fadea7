-- An iterator of empty matches, made again whenever it ends.
-- expect: limit_instructions
function run()
  while true do
    for x in string.gmatch("", "") do end
  end
end
