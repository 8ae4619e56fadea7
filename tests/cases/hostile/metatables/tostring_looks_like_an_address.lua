-- `__tostring` and `__name` give what looks like an address.
-- expect: result: ["table: 0x1234","function: builtin"]
function run()
  return {
    (tostring(setmetatable({}, { __tostring = function() return "table: 0x1234" end })):gsub("^table: %d+$", "table: 0x1234")),
    (tostring(setmetatable({}, { __tostring = function() return "function: builtin" end }))),
  }
end
