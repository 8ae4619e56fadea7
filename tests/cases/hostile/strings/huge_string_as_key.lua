-- A long text is hashed when it becomes a key, and compared when it is found.
-- expect: limit_instructions
function run()
  local key = string.rep("x", 3000000)
  local t = { [key] = 1 }
  while t[string.rep("x", 2999999) .. "x"] do end
end
