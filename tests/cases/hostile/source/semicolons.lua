-- Sixty thousand empty statements.
-- generates: source
-- expect: result: 1
-- expect on piccolo: limit_source
function run() return string.rep(";", 60000) .. "function run() return 1 end" end
