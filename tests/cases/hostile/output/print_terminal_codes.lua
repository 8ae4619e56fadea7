-- Control sequences are printed as they are, and no more is done with them.
-- expect: result: 1
function run()
  print("\27[2J\27]0;title\7\b\b\b\0\r\x9b31m")
  return 1
end
