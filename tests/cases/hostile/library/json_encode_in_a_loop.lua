-- A large table written again and again.
-- expect: limit_instructions
-- expect on piccolo: limit_instructions|limit_memory
function run()
  local t = {}
  for i = 1, 10000 do t[i] = { a = i, b = "x" } end
  while true do json.encode(t) end
end
