-- Bytes that are no text.
-- expect: result: {"$bytes":"//4="}
function run() return "\xFF\xFE" end
