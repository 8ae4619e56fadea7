-- Different strings as keys.
-- expect: limit_memory|limit_instructions
function run()
  local t, i = {}, 0
  while true do i = i + 1 t["key number " .. i] = true end
end
