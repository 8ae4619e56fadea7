-- Text printed without end.
-- expect: limit_print
function run() while true do print("some text, over and over") end end
