-- error: tool_error_ignored
-- Passing a failure through a list is not looking at it.
list.map({ 1 }, function() return fail() end)
