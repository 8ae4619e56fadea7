-- A `__close` handler raises another error in place of the limit.
-- expect: limit_instructions
-- expect on piccolo: engine_unsupported
function run()
  pcall(function()
    local x <close> = setmetatable({}, { __close = function() error("other") end })
    while true do end
  end)
  return "ok"
end
