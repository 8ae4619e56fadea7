-- Texts that differ only at their end: each comparison walks them.
-- expect: limit_instructions|limit_memory
function run()
  local t, s = {}, string.rep("x", 20000)
  for i = 1, 300 do t[i] = s .. (i * 7919 % 300 + 1000) end
  while true do
    table.sort(t)
    table.sort(t, function(a, b) return a > b end)
  end
end
