-- A `<close>` variable whose handler never ends.
-- expect: limit_instructions
-- expect on piccolo: engine_unsupported
function run()
  local x <close> = setmetatable({}, { __close = function() while true do end end })
end
