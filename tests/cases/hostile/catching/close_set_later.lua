-- The `__close` of a metatable is put in after setmetatable has looked.
-- expect: limit_instructions
-- expect on piccolo: engine_unsupported
function run()
  local mt = {}
  local t = setmetatable({}, mt)
  mt.__close = function() while true do pcall(error) end end
  pcall(function()
    local x <close> = t
    while true do end
  end)
  return "ok"
end
