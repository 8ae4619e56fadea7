-- Long keys that differ in few bytes: whether the hash sees them decides whether lookup is linear.
-- expect: limit_instructions|limit_memory
function run()
  local t, base = {}, string.rep("x", 1000)
  for i = 1, 5000 do t[base .. i .. base] = i end
  while true do
    for i = 1, 5000 do local v = t[base .. i .. base] end
  end
end
