-- A split into a million pieces, an empty separator.
-- expect: limit_instructions|limit_memory|plan_error
function run()
  local s = string.rep(",", 500000)
  while true do
    text.split(s, ",")
    pcall(text.split, s, "")
  end
end
