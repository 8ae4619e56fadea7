-- The collector cannot be driven.
-- expect: result: true
function run() return _G["collect" .. "garbage"] == nil end
