-- No format shows an address.
-- expect: result: [false,false,false,false]
function run()
  return {
    (pcall(string.format, "%p", {})), (pcall(string.format, "%-20p", print)),
    (pcall(string.format, "%%%p", "x")), (pcall(string.format, "%s%10p", 1, {})),
  }
end
