//! Short forms for what a model is told of a tool's configuration.

/// The most entries of a list that are told.
const LISTED_MAX: usize = 12;
/// The most characters of one entry.
const ENTRY_CHARS_MAX: usize = 60;

/// The first of `entries` on one line, and how many more there are.
#[must_use]
pub fn short_list(entries: &[String]) -> String {
    let one = |entry: &String| -> String {
        entry.chars().filter(|c| !c.is_control()).take(ENTRY_CHARS_MAX).collect()
    };
    let shown: Vec<String> = entries.iter().take(LISTED_MAX).map(one).collect();
    match entries.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
