-- Widths of quintillions, fills of every kind.
-- expect: limit_memory
function run() return #text.pad_left("x", 1 << 60, "ab") end
