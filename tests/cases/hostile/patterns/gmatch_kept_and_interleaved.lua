-- Many iterators over one subject, called in turn.
-- expect: limit_instructions|limit_memory
function run()
  local s, its = string.rep("a b ", 5000), {}
  for i = 1, 500 do its[i] = string.gmatch(s, "%a+ ") end
  while true do
    for i = 1, #its do if not its[i]() then its[i] = string.gmatch(s, "%a+ ") end end
  end
end
