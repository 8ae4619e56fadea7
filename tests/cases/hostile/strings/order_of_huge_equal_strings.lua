-- The order of two long texts with a common beginning. It counts as one instruction, so time may come first.
-- expect: limit_instructions|limit_wall
function run()
  local a = string.rep("x", 3000000)
  local b = string.rep("x", 2999999) .. "y"
  while a < b do end
end
