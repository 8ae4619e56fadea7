-- Each handler leaves a block with another one.
-- expect: limit_depth|limit_instructions|plan_error
-- expect on piccolo: engine_unsupported
local mt = {}
mt.__close = function() local x <close> = setmetatable({}, mt) end
function run() local x <close> = setmetatable({}, mt) end
