-- Keys of a hundred thousand bytes, many of them alike.
-- expect: limit_output|limit_memory
function run()
  local k, t = string.rep("k", 100000), {}
  for i = 1, 50 do t[i] = { [k .. i] = 1 } end
  return t
end
