-- error: tool_error_used `echo[1].x` is the result of a failed call
function run() echo({ { x = fail("gone") } }) end
