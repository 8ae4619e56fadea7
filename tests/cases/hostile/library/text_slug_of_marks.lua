-- A letter with a hundred thousand marks upon it.
-- expect: limit_instructions|limit_memory
function run()
  local s = "a" .. string.rep("\u{0301}\u{0327}", 100000)
  while true do
    text.slug(s)
    text.len(s)
    text.truncate(s, 5)
  end
end
