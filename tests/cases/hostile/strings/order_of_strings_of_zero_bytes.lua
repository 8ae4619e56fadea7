-- Comparison goes on behind each NUL. It costs what it compares.
-- expect: limit_instructions
function run()
  local a = string.rep("\0", 3000000)
  local b = string.rep("\0", 2999999) .. "\1"
  while a <= b do end
end
