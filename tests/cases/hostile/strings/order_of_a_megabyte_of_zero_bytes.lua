-- Comparison goes on behind each NUL. Texts below two megabytes are compared unseen, so time may come first.
-- expect: limit_instructions|limit_wall
function run()
  local a = string.rep("\0", 1000000)
  local b = string.rep("\0", 999999) .. "\1"
  while a <= b do end
end
