//! What a planner, a check and an editor know of the library.

use std::fmt::Write as _;

macro_rules! stub_files {
    ($($name:literal)+) => {
        /// LuaCATS declarations of every function, one file a library, in the order of the
        /// documentation: `(library, declarations)`. For prompts that have no room for all.
        pub const LIBRARY_STUB_FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../lua/stubs/", $name, ".lua"))),)+];

        /// LuaCATS declarations of every function.
        pub const LIBRARY_STUBS: &str =
            concat!($(include_str!(concat!("../../../lua/stubs/", $name, ".lua")), "\n",)+);
    };
}

stub_files! { "json" "date" "text" "csv" "stats" "list" "math" }

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
