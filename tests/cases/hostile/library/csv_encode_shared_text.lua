-- One text of a megabyte in a thousand cells.
-- expect: limit_memory
function run()
  local rows, s = {}, string.rep("x", 1000000)
  for i = 1, 1000 do rows[i] = { s } end
  return #csv.encode(rows)
end
