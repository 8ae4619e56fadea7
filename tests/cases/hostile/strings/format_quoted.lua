-- %q of megabytes of bytes that need escapes.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("\0\"\n\r\\", 200000)
  while true do string.format("%q", s) end
end
