-- engine: mlua (the second engine knows no lines of calls in tail position or by pcall)
-- Errors name the plan's line.
local ok, message = pcall(function() return text.trim(nil) end)
equal(message, "plan.lua:3: text.trim: argument 1 (s) must be text, got nil")
ok, message = pcall(list.map, nil, tostring)
equal(message, "plan.lua:5: list.map: argument 1 (list) must be a table, got nil")
