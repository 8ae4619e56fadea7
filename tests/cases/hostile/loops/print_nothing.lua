-- print without arguments costs output bytes, so it ends too.
-- expect: limit_print|limit_instructions
function run() while true do print() end end
