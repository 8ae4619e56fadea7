-- Tens of thousands of escapes of every kind.
-- generates: source
-- expect: result: 15000
-- expect on piccolo: limit_source
function run() return "function run() return #'" .. string.rep("\\x41\\65\\u{41}\\n\\z  \\\\A", 2500) .. "' end" end
