-- One print of many values.
-- expect: limit_print|plan_error
-- expect on piccolo: limit_instructions
-- expect on piccolo: limit_memory
function run() print(table.unpack({}, 1, 200000)) end
