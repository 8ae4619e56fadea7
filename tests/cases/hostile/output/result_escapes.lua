-- A text that grows sixfold when it is written.
-- expect: limit_output
function run() return string.rep("\1", 100000) end
