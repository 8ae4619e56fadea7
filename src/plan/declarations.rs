//! What the sandbox declares besides tools, as LuaCATS.

/// Lua's own globals in the sandbox.
const GLOBALS: (&str, &str) = ("globals", include_str!("types/globals.lua"));

/// The library of lists with the kinds of items.
const LIST: (&str, &str) = ("list", include_str!("types/list.lua"));

/// Lua's own part of the sandbox, and the libraries, each with its declarations.
pub(super) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    std::iter::once(GLOBALS).chain(luaplan_lua::LIBRARY_STUB_FILES.iter().copied())
}

/// The same for the inference of types: where what a function gives depends on what it is given.
pub(super) fn inferred() -> impl Iterator<Item = (&'static str, &'static str)> {
    all().map(|(name, text)| if name == LIST.0 { LIST } else { (name, text) })
}

/// The functions and values a library declares.
pub(super) fn members(library: &str) -> Vec<&'static str> {
    all().find(|(name, _)| *name == library).map_or_else(Vec::new, |(_, text)| members_of(library, text))
}

fn members_of(library: &str, text: &'static str) -> Vec<&'static str> {
    let member = |line: &'static str| {
        let line = line.strip_prefix("function ").unwrap_or(line);
        let member = line.strip_prefix(library)?.strip_prefix('.')?;
        member.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
    };
    text.lines().filter_map(member).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inference_knows_every_function_that_plans_have() {
        for ((name, written), (_, inferred)) in all().zip(inferred()) {
            assert_eq!(members_of(name, written), members_of(name, inferred), "{name}");
            let heads = |text: &'static str| -> Vec<&'static str> {
                text.lines().filter(|line| line.starts_with("function ")).collect()
            };
            assert_eq!(heads(written), heads(inferred), "{name}");
        }
    }
}
