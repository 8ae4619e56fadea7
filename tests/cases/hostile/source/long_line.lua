-- One line of sixty thousand characters.
-- generates: source
-- expect: result: 1
-- expect on piccolo: limit_source
function run() return "function run() local x = 0 " .. string.rep("x = x ", 10000) .. "return 1 end" end
