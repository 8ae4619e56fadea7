//! The planner without a network: extraction, shapes, budgets, rounds.

mod collapse;
mod databases;
mod evidence;
mod examples;
mod extract;
mod library;
mod prompt;
mod rounds;
mod verdict;

use luaplan_base::{LimitProfile, Limits};
use luaplan_catalog::{Catalog, read_manifest};
use luaplan_plan::CheckReport;

use super::PlannerSettings;

pub(super) const LIBRARY: &str = "\
---@class text
text = {}

---Without white space at both ends.
---@param s string
---@return string
function text.trim(s) end

---@class stats
stats = {}

---@param xs number[]
---@return number
function stats.mean(xs) end
";

pub(super) fn limits() -> Limits {
    LimitProfile::Standard.limits()
}

pub(super) fn settings() -> PlannerSettings {
    PlannerSettings {
        prompt_tokens: 16_000,
        output_tokens: 4_096,
        repair_rounds_max: PlannerSettings::REPAIR_ROUNDS_MAX,
        has_reviewer: false,
        library_stubs: LIBRARY,
    }
}

pub(super) fn catalog() -> Catalog {
    let query_db = r#"
        name = "query_db"
        description = "Reads rows from a database. A missing table is an error."
        effect = "read"
        kind = "builtin"
        [params]
        type = "object"
        required = ["table"]
        additionalProperties = false
        [params.properties.table]
        type = "string"
        description = "The table's name."
        [params.properties.limit]
        type = "integer"
        description = "The most rows."
        [result]
        type = "array"
        items = { type = "object" }
    "#;
    [read_manifest(query_db, "query_db.toml").unwrap()].into_iter().collect()
}

pub(super) fn check(source: &str) -> CheckReport {
    luaplan_plan::check(source, "plan", &catalog(), &limits())
}
