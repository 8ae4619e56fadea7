-- Comparison goes on behind each NUL. It counts as one instruction, so time may come first.
-- late: 1000 ms, as one comparison goes on behind each NUL of a megabyte of them
-- expect: limit_instructions|limit_wall
function run()
  local a = string.rep("\0", 1000000)
  local b = string.rep("\0", 999999) .. "\1"
  while a <= b do end
end
