-- %s of megabytes, many times in one format.
-- expect: limit_memory|limit_instructions
function run()
  local s = string.rep("x", 1000000)
  return #string.format(string.rep("%s", 30), s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)
end
