-- The iterator over a long text, started again and again.
-- expect: limit_instructions
function run()
  local s = string.rep("é", 100000)
  while true do
    for p, c in utf8.codes(s) do end
  end
end
