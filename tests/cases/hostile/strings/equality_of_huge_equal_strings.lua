-- Long strings are compared byte by byte when they are equal but not the same. It counts as one instruction, so time may come first.
-- expect: limit_instructions|limit_wall
function run()
  local a = string.rep("x", 3000000)
  local b = string.rep("x", 2999999) .. "x"
  while a == b do end
end
