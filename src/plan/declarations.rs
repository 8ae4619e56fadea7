//! What the sandbox declares besides tools, as LuaCATS.

/// Lua's own globals in the sandbox.
const GLOBALS: (&str, &str) = ("globals", include_str!("types/globals.lua"));

/// Lua's own part of the sandbox, and the libraries, each with its declarations.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::once(GLOBALS).chain(luaplan_lua::LIBRARY_STUB_FILES.iter().copied())
}

/// The functions and values a library declares.
pub(super) fn members(library: &str) -> Vec<&'static str> {
    let Some((_, text)) = all().find(|(name, _)| *name == library) else { return Vec::new() };
    let member = |line: &'static str| {
        let line = line.strip_prefix("function ").unwrap_or(line);
        let member = line.strip_prefix(library)?.strip_prefix('.')?;
        member.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
    };
    text.lines().filter_map(member).collect()
}
