-- CVE-2025-46819: the lexer read out of bounds for delimiters of long strings with very many levels.
-- generates: source
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run() return "function run() return [" .. string.rep("=", 65000) end
