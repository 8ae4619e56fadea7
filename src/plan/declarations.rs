//! What the sandbox declares besides tools, as LuaCATS.

/// Lua's own part of the sandbox, and the libraries, each with its declarations.
pub(super) const ALL: [(&str, &str); 8] = [
    ("globals", include_str!("types/globals.lua")),
    ("json", include_str!("../../lua/stubs/json.lua")),
    ("date", include_str!("../../lua/stubs/date.lua")),
    ("text", include_str!("../../lua/stubs/text.lua")),
    ("csv", include_str!("../../lua/stubs/csv.lua")),
    ("stats", include_str!("../../lua/stubs/stats.lua")),
    ("list", include_str!("../../lua/stubs/list.lua")),
    ("math", include_str!("../../lua/stubs/math.lua")),
];

/// The functions and values a library declares.
pub(super) fn members(library: &str) -> Vec<&'static str> {
    let Some((_, text)) = ALL.into_iter().find(|(name, _)| *name == library) else { return Vec::new() };
    let member = |line: &'static str| {
        let line = line.strip_prefix("function ").unwrap_or(line);
        let member = line.strip_prefix(library)?.strip_prefix('.')?;
        member.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
    };
    text.lines().filter_map(member).collect()
}
