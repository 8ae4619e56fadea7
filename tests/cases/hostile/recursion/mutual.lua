-- Two functions that call one another.
-- expect: limit_depth
local a, b
function a() return 1 + b() end
function b() return 1 + a() end
function run() return a() end
