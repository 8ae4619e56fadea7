-- Length times count overflows 64 bits, with a separator.
-- expect: limit_memory
-- expect: plan_error resulting string too large
function run() return #string.rep("abcdefgh", 1 << 61, "separator") end
