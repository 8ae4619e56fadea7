-- A field one byte longer than 31 bits count.
-- expect: limit_memory|plan_error
function run() return #string.pack("c2147483648", "x") end
