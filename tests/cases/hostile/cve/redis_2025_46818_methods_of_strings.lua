-- CVE-2025-46818: what a script does to the methods of strings. The table is the run's own: the next run sees nothing of it.
-- expect: result: "changed"
for name in pairs(string) do string[name] = function() return "changed" end end
function run() return ("x"):upper() end
