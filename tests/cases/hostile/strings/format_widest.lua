-- The widest allowed conversions of the largest numbers, many in one format.
-- expect: limit_instructions|limit_memory
function run()
  local f = string.rep("%99.99f", 200)
  local args = {}
  for i = 1, 200 do args[i] = -1.7976931348623157e308 end
  while true do string.format(f, table.unpack(args)) end
end
