-- Replacements of kinds that cannot be put into a text.
-- expect: plan_error invalid replacement value
function run() return string.gsub("abc", "%w", function() return {} end) end
