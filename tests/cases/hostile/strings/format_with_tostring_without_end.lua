-- %s calls `__tostring`, which never returns.
-- expect: limit_instructions
function run()
  return string.format("%s", setmetatable({}, { __tostring = function() while true do end end }))
end
