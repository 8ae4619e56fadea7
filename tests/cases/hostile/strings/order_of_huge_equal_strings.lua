-- The order of two long texts with a common beginning. It costs what it compares.
-- expect: limit_instructions
function run()
  local a = string.rep("x", 3000000)
  local b = string.rep("x", 2999999) .. "y"
  while a < b do end
end
