-- A fixed-size field of a gigabyte.
-- expect: limit_memory|plan_error
function run() return #string.pack("c1000000000", "x") end
