//! The check, held against files of plans and against the stock Lua compiler.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod cases;
pub(crate) mod corpus;
mod depth;
mod pure;
mod rules;
mod stock_lua;
mod straight;
mod typed;

use std::path::{Path, PathBuf};

use luaplan::base::{LimitProfile, Limits};
use luaplan::catalog::{Catalog, load_folder};
use luaplan::plan::{CheckReport, check};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/check")
}

fn catalog() -> Catalog {
    load_folder(&cases().join("tools")).unwrap().into_iter().collect()
}

fn limits() -> Limits {
    LimitProfile::Standard.limits()
}

fn check_text(source: &str) -> CheckReport {
    check(source, "plan", &catalog(), &limits())
}

/// Whether the stock compiler takes `source`.
fn compiles(source: &str) -> Result<(), String> {
    mlua::Lua::new().load(source).into_function().map(|_| ()).map_err(|error| error.to_string())
}
