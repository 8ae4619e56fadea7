-- Rows of commas, without end.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep(string.rep(",", 1000) .. "\n", 500)
  while true do csv.parse(s) end
end
