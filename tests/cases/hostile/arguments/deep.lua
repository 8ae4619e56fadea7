-- An argument nested beyond the cap, caught, again and again.
-- expect: limit_instructions|limit_tool_calls
function run()
  local t = {}
  for i = 1, 1000 do t = { t } end
  while true do pcall(echo, t) end
end
