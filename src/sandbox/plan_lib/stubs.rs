//! The library's stubs, for planner, check and editors.

use std::fmt::Write as _;

use luaplan_lua::LIBRARY_STUB_FILES;

/// Every function by its call alone, one line a library: the shortest form that still lets a
/// model use them.
#[must_use]
pub fn library_signatures() -> String {
    let mut lines = String::new();
    for (name, stubs) in LIBRARY_STUB_FILES {
        let calls: Vec<_> =
            stubs.lines().filter_map(|line| line.strip_prefix("function ")?.strip_suffix(" end")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{name}: {}", calls.join(", "));
    }
    lines
}
