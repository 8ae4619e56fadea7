-- Non-breaking blanks, zero-width characters, other scripts' letters, direction marks.
-- generates: source
-- expect: plan_syntax
function run() return "function run() return\u{A0}1\u{200B}\u{202E}\u{FEFF} end -- \u{202D}" end
