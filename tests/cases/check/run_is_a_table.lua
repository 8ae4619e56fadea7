--! expect: plan_no_run 2:1 `run` is a table, not a function
run = { start = function() end }
