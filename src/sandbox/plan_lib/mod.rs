//! The library of every plan: `json`, `date`, `text`, `csv`, `stats`, `list`, and `math.round`.
//!
//! Functions that call back into the plan are written in Lua (`lua/lib/`), so that a callback may
//! call a tool; those that only handle bytes are written in Rust and charge the instruction
//! budget for the bytes they handle. A library is built when a plan first uses it.
//!
//! **Never here:** a clock (`date.now` is a value that the VM was given), randomness, I/O, or anything whose result depends on hash order.

mod call;
mod csv;
mod date;
mod json;
mod order;
mod round;
mod stubs;
#[cfg(test)]
mod tests;
mod text;
mod value;

use luaplan_lua::library;

use crate::vm::lua_chunk::LuaPart;

pub(super) use call::{LibFunction, quoted};
pub(super) use order::SORTED_ORDER;
pub(super) use round::ROUND;
pub(super) use value::{LibError, LibHost, LibTable, Result, Table, Value};

pub use luaplan_lua::{LIBRARY_STUB_FILES, LIBRARY_STUBS};
pub use stubs::library_signatures;

static STATS: LuaPart = LuaPart::new("stats", library::STATS);
static LIST: LuaPart = LuaPart::new("list", library::LIST);
static LIST_ORDER: LuaPart = LuaPart::new("list_order", library::LIST_ORDER);
static LIST_PARTS: LuaPart = LuaPart::new("list_parts", library::LIST_PARTS);
/// What the Lua parts share: argument checks, and `total(numbers, count)`.
pub(super) static CHECKS: LuaPart = LuaPart::new("checks", library::CHECKS);
pub(super) static TOTAL: LuaPart = LuaPart::new("total", library::TOTAL);

/// One library: a global table of functions.
pub(super) struct Library {
    pub(super) name: &'static str,
    /// The member that holds the value `null`.
    pub(super) null: Option<&'static str>,
    /// Functions written in Rust.
    pub(super) natives: &'static [LibFunction],
    /// Parts that return a table of functions written in Lua.
    pub(super) parts: &'static [&'static LuaPart],
}

/// Every library, in the order of the documentation.
pub(super) static LIBRARIES: [Library; 6] = [
    Library { name: "json", null: Some("null"), natives: json::NATIVES, parts: &[] },
    Library { name: "date", null: None, natives: date::NATIVES, parts: &[] },
    Library { name: "text", null: None, natives: text::NATIVES, parts: &[] },
    Library { name: "csv", null: None, natives: csv::NATIVES, parts: &[] },
    Library { name: "stats", null: None, natives: &[], parts: &[&STATS] },
    Library { name: "list", null: None, natives: &[], parts: &[&LIST, &LIST_ORDER, &LIST_PARTS] },
];
