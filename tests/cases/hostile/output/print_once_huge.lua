-- One print of megabytes.
-- expect: limit_print
function run() print(string.rep("x", 5000000)) end
