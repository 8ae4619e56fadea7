-- Error values that hold one another.
-- expect: limit_memory|limit_instructions
function run()
  local last
  while true do
    local _, e = pcall(error, { last, string.rep("x", 1000) .. tostring(last) })
    last = e
  end
end
