-- The last doubling alone is larger than what is left.
-- expect: limit_memory
-- limits: memory=32MiB
function run()
  local s = string.rep("x", 6000000)
  local t = s .. s .. s
  return #(t .. t .. t)
end
