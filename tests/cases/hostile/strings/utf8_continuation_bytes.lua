-- A text of nothing but continuation bytes: each step looks for a beginning.
-- expect: limit_instructions
function run()
  local s = string.rep("\x80", 1000000)
  while true do
    pcall(utf8.offset, s, -1)
    pcall(utf8.len, s)
    utf8.len(s, 1, -1, true)
  end
end
