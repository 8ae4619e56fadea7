-- Long strings are compared byte by byte when they are equal but not the same. It costs what it compares.
-- expect: limit_instructions
-- expect on piccolo: limit_wall|worker_crashed
-- expect on piccolo: limit_instructions
function run()
  local a = string.rep("x", 3000000)
  local b = string.rep("x", 2999999) .. "x"
  while a == b do end
end
