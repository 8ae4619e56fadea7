-- The methods of strings are the members of a table the plan can change: only its own run sees it.
-- expect: result: "changed"
function string.upper() return "changed" end
function string.rep() return "changed" end
function run() return ("x"):upper() end
