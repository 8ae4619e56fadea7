//! Our own Lua texts: the prelude and the parts of the library written in Lua.

use std::sync::OnceLock;

use luaplan_lua::prelude;

/// One of our Lua files: `static MAIN: LuaPart = LuaPart::new("main", prelude::MAIN);`
pub(crate) struct LuaPart {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    /// What an engine made of it, once per process.
    pub(crate) bytecode: OnceLock<Vec<u8>>,
}

/// The prefix of our parts' chunk names; frames of the plan never have it.
pub(crate) const PART_CHUNK_NAME: &str = "=luaplan:";

/// The longest chunk name Lua prints whole.
const CHUNK_NAME_BYTES_MAX: usize = 59;

/// A name for a plan's chunk that Lua prints whole, and that differs from those of our parts.
pub(crate) fn printable_chunk_name(name: &str) -> String {
    let mut clean: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    while clean.len() > CHUNK_NAME_BYTES_MAX {
        clean.pop();
    }
    if clean.is_empty() || clean.starts_with("luaplan:") || clean.starts_with('[') {
        "plan".to_owned()
    } else {
        clean
    }
}

/// Splits `chunk:LINE: message`.
pub(crate) fn split_position<'a>(chunk: &str, text: &'a str) -> Option<(u32, &'a str)> {
    let rest = text.strip_prefix(chunk)?.strip_prefix(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest.get(..digits)?.parse().ok()?;
    let rest = rest.get(digits..)?.strip_prefix(':')?;
    Some((number, rest.strip_prefix(' ').unwrap_or(rest)))
}

impl LuaPart {
    pub(crate) const fn new(name: &'static str, source: &'static str) -> Self {
        Self { name, source, bytecode: OnceLock::new() }
    }
}

/// The prelude: `MAIN` joins the others and makes the globals what a plan may see.
pub(crate) static MAIN: LuaPart = LuaPart::new("main", prelude::MAIN);
/// Strict error values.
pub(crate) static FAILURES: LuaPart = LuaPart::new("failures", prelude::FAILURES);
/// The basic functions.
pub(crate) static VALUES: LuaPart = LuaPart::new("values", prelude::VALUES);
/// Protected calls and coroutines.
pub(crate) static CONTROL: LuaPart = LuaPart::new("control", prelude::CONTROL);
/// Tools, `parallel`, `retry` and `must`.
pub(crate) static TOOLS: LuaPart = LuaPart::new("tools", prelude::TOOLS);
/// The string library, where it calls back into the plan.
pub(crate) static LIBRARY: LuaPart = LuaPart::new("library", prelude::LIBRARY);
/// Named steps.
pub(crate) static STEPS: LuaPart = LuaPart::new("steps", prelude::STEPS);
/// Pattern functions, where they call back into the plan.
pub(crate) static PATTERNS: LuaPart = LuaPart::new("patterns", prelude::PATTERNS);
/// The table library, where it calls back into the plan.
pub(crate) static TABLES: LuaPart = LuaPart::new("tables", prelude::TABLES);
