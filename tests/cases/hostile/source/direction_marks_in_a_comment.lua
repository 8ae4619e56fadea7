-- Text that shows otherwise than it runs.
-- generates: source
-- expect: result: "what runs"
function run() return "function run() --[[ \u{202E} ]] return 'what runs' --[[ \u{2066} return 'what shows' \u{2069} ]] end" end
