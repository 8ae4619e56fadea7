-- Letters whose upper case is longer, in megabytes.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("ŉΐß", 100000)
  while true do
    text.upper(s)
    text.lower(s)
    text.title(s)
  end
end
