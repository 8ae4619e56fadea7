-- The limit comes inside `__tostring`.
-- expect: limit_instructions
function run()
  pcall(tostring, setmetatable({}, { __tostring = function() while true do end end }))
  return "ok"
end
