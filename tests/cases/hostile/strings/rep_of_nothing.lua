-- Nothing, a quintillion times: no bytes, but a naive loop never ends.
-- expect: result: ["",""]
function run() return { string.rep("", math.maxinteger), string.rep("", math.maxinteger, "") } end
