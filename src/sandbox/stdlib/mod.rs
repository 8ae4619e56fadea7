//! The library plans have without asking: `json`, `date`, `text`, `csv`, `stats`, `list`, and
//! `math.round`.
//!
//! Functions that call back into the plan are written in Lua (`lua/lib/`), so that a callback may
//! call a tool; those that only handle bytes are written in Rust and charge the instruction
//! budget for the bytes they handle. A library is put together when a plan first touches it.
//!
//! **Never here:** a clock, chance, I/O, or anything whose result depends on hash order.

mod call;
mod csv;
mod date;
mod json;
mod load;
mod order;
mod round;
mod stubs;
#[cfg(test)]
mod tests;
mod text;

use mlua::Lua;

use super::part::LuaPart;
use super::support::Support;
use call::Native;

pub use stubs::{LIBRARY_STUB_FILES, LIBRARY_STUBS, library_signatures};

static STATS: LuaPart = LuaPart::new("stats", include_str!("../../../lua/lib/stats.lua"));
static LIST: LuaPart = LuaPart::new("list", include_str!("../../../lua/lib/list.lua"));
static LIST_ORDER: LuaPart = LuaPart::new("list_order", include_str!("../../../lua/lib/list_order.lua"));
static LIST_PARTS: LuaPart = LuaPart::new("list_parts", include_str!("../../../lua/lib/list_parts.lua"));
/// What the Lua parts share: argument checks, and `total(numbers, count)`.
static CHECKS: LuaPart = LuaPart::new("checks", include_str!("../../../lua/lib/checks.lua"));
static TOTAL: LuaPart = LuaPart::new("total", include_str!("../../../lua/lib/total.lua"));

/// One library: a global table of functions.
struct Library {
    name: &'static str,
    /// The member that holds the value `null`.
    null: Option<&'static str>,
    /// Functions written in Rust.
    natives: &'static [Native],
    /// Parts that return a table of functions written in Lua.
    parts: &'static [&'static LuaPart],
}

/// Every library, in the order of the documentation.
static LIBRARIES: [Library; 6] = [
    Library { name: "json", null: Some("null"), natives: json::NATIVES, parts: &[] },
    Library { name: "date", null: None, natives: date::NATIVES, parts: &[] },
    Library { name: "text", null: None, natives: text::NATIVES, parts: &[] },
    Library { name: "csv", null: None, natives: csv::NATIVES, parts: &[] },
    Library { name: "stats", null: None, natives: &[], parts: &[&STATS] },
    Library { name: "list", null: None, natives: &[], parts: &[&LIST, &LIST_ORDER, &LIST_PARTS] },
];

/// Sets the library globals. Called once the VM's own globals are in place, before the plan is
/// loaded: the libraries keep the `type`, `pairs` and so on that they find now, so nothing a plan
/// redefines changes how they work.
pub(super) fn install(lua: &Lua, support: &Support) -> mlua::Result<()> {
    load::install(lua, support, &LIBRARIES)?;
    round::install(lua, support)
}
