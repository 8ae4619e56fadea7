//! Two plans as a difference of lines.

use similar::TextDiff;

use luaplan_journal::neutralize;

/// How many lines that stay are shown around those that change.
const AROUND_LINES: usize = 3;

/// A unified difference, safe for a terminal; empty where both are the same. `from` and `to` name the two.
pub(super) fn unified(from: (&str, &str), to: (&str, &str)) -> String {
    if from.1 == to.1 {
        return String::new();
    }
    let difference = TextDiff::from_lines(from.1, to.1);
    let text = difference.unified_diff().context_radius(AROUND_LINES).header(from.0, to.0).to_string();
    neutralize(text.trim_end())
}
