-- Thousands of elseif.
-- generates: source
-- expect: result: 1
-- expect on piccolo: limit_source
function run() return "function run() local a = 2 if a == 1 then " .. string.rep("elseif a==1 then ", 3500) .. "end return 1 end" end
