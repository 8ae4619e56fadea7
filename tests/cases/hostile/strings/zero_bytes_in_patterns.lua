-- NUL bytes in subject, pattern, class and replacement.
-- expect: result: [3,"x\u0000\u0000y",4]
function run()
  local s = string.gsub("x\0y", "%z", "\0\0")
  return { (string.find("ab\0", "\0", 1, true)), s, (string.find("abc\0d", "[\0-\1]")) }
end
